#include "program.hpp"

#include "caller.hpp"
#include "client/client_core.hpp"
#include "ensemble/ensemble_access.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "ensemble/virtual/virtual_process.hpp"
#include "session/connect_string.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace latchkey::simulation {

namespace {

/// Ends nothing: the adversary does, when the program has crashed.
class simulated_guard final : public session_guard {
public:
    explicit simulated_guard(std::shared_ptr<client_record> of) : of_(std::move(of)) {}

    ~simulated_guard() override { of_->guarded = 0; }

    void guard(const session_claim& claim) override { of_->guarded = claim.id; }

private:
    const std::shared_ptr<client_record> of_;
};

runtime runtime_in(stage& s, const std::shared_ptr<client_record>& record) {
    runtime env = testing::ensemble_access::runtime_of(s.servers);
    if (s.what.long_queue > 0) {
        env.long_queue = s.what.long_queue;
    }
    env.guards = [record](const guarded_client&) {
        return std::make_unique<simulated_guard>(record);
    };
    return env;
}

}  // namespace

program::program(stage& s, judge& j, const plan::client& what, int number)
    : stage_(s),
      judge_(j),
      record_(std::make_shared<client_record>()),
      env_(runtime_in(s, record_)) {
    const auto process = std::static_pointer_cast<virtual_process>(env_.loop);
    if (s.what.drift > 0) {
        process->set_clock_rate(draw_clock_rate(s.what, s.streams("client's clock", number)));
    }
    record_->clock = process;
    record_->number = number;
    record_->chroot = what.chroot;
    record_->timeout = std::max<duration>(what.session_timeout, s.what.servers.tick * 2);
    record_->granted = record_->timeout;
    if (const duration most = s.what.servers.max_session_timeout; most > duration{}) {
        record_->granted = std::min(record_->timeout, most);
    }
    // Servers that are not told a maximum grant 20 ticks at most.
    record_->patience = std::chrono::floor<std::chrono::milliseconds>(
        std::min<duration>({what.session_timeout, record_->granted, s.what.servers.tick * 20}));
    client_ = client_core::handle(
        client_core::start(env_,
                           parse_connect_string(s.servers.servers() + what.chroot),
                           {.session_timeout = what.session_timeout,
                            .max_clock_drift = s.what.drift,
                            .direct = s.streams("direct", number).chance(s.what.direct)
                                          ? std::vector<std::string>{"10.0.0.1:0"}
                                          : std::vector<std::string>{},
                            .guardian = s.streams("guardian", number).chance(s.what.guardians)
                                            ? std::optional<std::string>("")
                                            : std::nullopt}));
    stats_ = client_->stats_reader();
    for (const plan::object& o : what.objects) {
        for (int i = 0; i < o.callers; ++i) {
            callers_.push_back(s.recipe.make_caller(
                *this,
                objects_.size(),
                "c" + std::to_string(number) + "." + std::to_string(callers_.size())));
        }
        add(o, what.chroot);
    }
}

program::~program() = default;

void program::add(const plan::object& o, const std::string& chroot) {
    std::vector<std::string> paths;
    for (const std::string& directory : o.directories()) {
        paths.push_back(directory.substr(chroot.size()));
    }
    ++record_->objects;
    record_->places += places_of(o);
    objects_.push_back({std::move(paths), o, 0, nullptr});
}

/// How many places in queues the callers of one object take at once.
std::size_t program::places_of(const plan::object& o) const {
    return stage_.recipe.queues_of(o) *
           (stage_.recipe.one_at_a_time() ? 1 : static_cast<std::size_t>(o.callers));
}

void program::start() {
    listening_ = client_->on_change([this](connection_state s) { hear(s); });
    for (const auto& w : callers_) {
        w->rest();
    }
}

void program::hear(connection_state s) {
    stage_.tell("client ", record_->number, " is ", to_string(s));
    judge_.state(*record_, s);
    if (!stage_.calm && stage_.random("hear").chance(0.03)) {
        throw std::runtime_error("from a listener");
    }
}

// ---- its objects ----

program::object* program::usable(std::size_t index) {
    object& o = objects_[index];
    if (!o.used && !client_) {
        return nullptr;
    }
    if (record_->closed && stage_.random("usable").chance(0.5)) {
        return nullptr;  // it has understood
    }
    if (!o.used) {
        o.used = stage_.recipe.make(stage_, *client_, o.paths);
        o.number = ++objects_made_;
    }
    return &o;
}

client* program::usable_client() {
    if (!client_ || (record_->closed && stage_.random("usable_client").chance(0.5))) {
        return nullptr;
    }
    return &*client_;
}

void program::destroy_mutex(std::size_t index) {
    stage_.tell("client ", record_->number, " destroys its mutex ", index);
    // Who waits through it goes on, beside those who use the next one.
    record_->objects += objects_[index].used ? 1U : 0U;
    record_->places += objects_[index].used ? places_of(objects_[index].what) : 0U;
    objects_[index].used.reset();
    for (const auto& c : callers_) {
        c->bereave(index);
    }
}

caller& program::some_caller() {
    return *callers_[stage_.random("some_caller").below(callers_.size())];
}

// ---- faults ----

void program::pause() {
    if (!record_->paused) {
        record_->paused = true;
        ++record_->pauses;
        static_cast<virtual_process&>(*env_.loop).pause();
    }
}

void program::resume() {
    if (record_->paused && !record_->crashed) {
        record_->paused = false;
        record_->running_since = stage_.now();
        static_cast<virtual_process&>(*env_.loop).resume();
    }
}

void program::crash() {
    pause();
    record_->crashed = true;
}

void program::meddle(fault f) {
    loop().post([weak = weak_from_this(), f] {
        const auto self = weak.lock();
        if (!self) {
            return;
        }
        switch (f) {
            case fault::cancelled:
                return self->some_caller().cancel();
            case fault::mutex_destroyed:
                return self->destroy_mutex(
                    self->stage_.random("meddle").below(self->objects_.size()));
            case fault::hold_released:
                return self->some_caller().release();
            default:
                return self->finish();
        }
    });
}

void program::finish() {
    if (!client_) {
        return;
    }
    record_->closed = true;
    if (stage_.random("finish").chance(0.5)) {
        stage_.tell("client ", record_->number, " is closed");
        client_->close();
    } else {
        stage_.tell("client ", record_->number, " is destroyed");
        client_.reset();
    }
}

}  // namespace latchkey::simulation
