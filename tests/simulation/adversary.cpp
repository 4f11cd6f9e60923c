#include "adversary.hpp"

#include "ensemble/cluster.hpp"
#include "ensemble/virtual/virtual_loop.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

// When, and at whom.

namespace latchkey::simulation {
namespace {

using model::fault_plan;

/// Instead of what is done at any time: what happens to a request, or to its answer.
fault_plan::verdict fate_of(fault f, model::random_source& random) {
    constexpr std::array lost{result_code::connection_loss, result_code::operation_timeout};
    const result_code cut = lost[random.below(lost.size())];
    switch (f) {
        case fault::request_lost:
            return {fault_plan::fault::cut, false, cut};
        case fault::answer_lost:
            return {fault_plan::fault::cut, true, cut};
        case fault::refused_unknown:
            return {fault_plan::fault::refusal, false, result_code::runtime_inconsistency};
        case fault::answered_unknown:
            return {fault_plan::fault::refusal, true, result_code::runtime_inconsistency};
        case fault::throttled:
            return {fault_plan::fault::refusal, false, result_code::throttled};
        default:
            return {};
    }
}

bool is_write(request::kind k) {
    using enum request::kind;
    return k == create || k == remove || k == set || k == multi;
}

/// Does nothing but what the operator or the leader can do in the middle of a request.
bool can_come_before(fault f) {
    return f >= fault::session_expired && f <= fault::sequence_ended;
}

}  // namespace

adversary::adversary(stage& s, judge& j, const programs& all)
    : stage_(s),
      judge_(j),
      programs_(all),
      all_weights_(std::accumulate(s.what.weights.begin(), s.what.weights.end(), 0.0)),
      next_(s.loop) {}

void adversary::begin() {
    if (all_weights_ > 0 && stage_.what.interval > duration{}) {
        strike_later();
    }
}

/// What befalls requests can make for more requests than it ends: a run is not to be about that.
bool adversary::rests() const noexcept {
    constexpr std::uint64_t most_strikes = 5000;
    return stage_.calm || strikes_ >= most_strikes;
}

void adversary::strike_later() {
    next_.start(stage_.up_to("strike_later", stage_.what.interval * 2), [this] {
        strike_later();
        strike(some_fault(), some_session());
    });
}

void adversary::end() {
    stage_.calm = true;
    next_.cancel();
    after_answer_.clear();
    for (const auto& t : std::exchange(present_, {})) {
        if (t->until->running()) {
            t->undo();
        }
    }
}

/// What cannot be undone, because no server leads, lasts on: the judge must not take it for over.
void adversary::undo_later(duration after, std::function<void()> undo) {
    std::erase_if(present_, [](const auto& t) { return !t->until->running(); });
    ++stage_.troubles;
    const auto t = std::make_shared<trouble>();
    t->until = std::make_unique<timer>(stage_.loop);
    t->undo = [this, undo = std::move(undo)] {
        --stage_.troubles;
        stage_.last_trouble = stage_.now();
        try {
            undo();
        } catch (const error& e) {
            if (e.code() != errc::no_such_znode && !stage_.calm) {
                stage_.loop.post([this, undo] { undo_later(lasting(), undo); });
            }
        }
    };
    t->until->start(after, [t = t.get()] { t->undo(); });
    present_.push_back(t);
}

fault_plan::verdict adversary::at_request(const model::connection& c, const model::packet& p) {
    if (rests() || p.what != model::packet::kind::request || all_weights_ <= 0 ||
        !stage_.streams("at_request", static_cast<std::uint64_t>(c.session))
             .chance(stage_.what.at_requests)) {
        return {};
    }
    const fault f = some_fault();
    const fault_plan::verdict fate = fate_of(f, stage_.random("at_request"));
    if (fate.what != fault_plan::fault::none) {
        ++strikes_;
        stage_.tell("!! ", to_string(f));
        ++stage_.counts.faults[index_of(f)];
        ++stage_.disturbances;
        stage_.last_trouble = stage_.now();
        return fate;
    }
    if (f == fault::cut_off || stage_.random("at_request").chance(0.4)) {
        after_answer_[c.session] = f;
    } else if (can_come_before(f)) {
        strike(f, aim(c.session));
    } else {
        stage_.loop.post([this, f, session = aim(c.session)] { strike(f, session); });
    }
    return {};
}

void adversary::at_answer(const model::connection& c, const request& r) {
    const auto found = after_answer_.find(c.session);
    if (found == after_answer_.end()) {
        return;
    }
    const fault f = found->second;
    if (f == fault::cut_off && !is_write(r.what)) {
        return;  // later
    }
    // The answer is on its way by then.
    const std::int64_t victim = f == fault::cut_off ? c.session : aim(c.session);
    stage_.loop.post([this, f, victim] { strike(f, victim); });
    after_answer_.erase(found);
}

// ---- drawing ----

fault adversary::some_fault() {
    double x =
        static_cast<double>(stage_.random("some_fault").below(1'000'000)) / 1e6 * all_weights_;
    std::size_t i = 0;
    std::size_t last = 0;
    for (; i < fault_kinds; ++i) {
        if (stage_.what.weights[i] > 0) {
            last = i;
            x -= stage_.what.weights[i];
            if (x < 0) {
                break;
            }
        }
    }
    return fault_at(last);
}

std::int64_t adversary::some_session() {
    return programs_[stage_.random("some_session").below(programs_.size())]->record()->session;
}

/// Who sends a request matters most, then who is ahead of it.
std::int64_t adversary::aim(std::int64_t sender) {
    const std::string directory = some_directory();
    const auto& queue = judge_.log().queue_of(directory);
    switch (stage_.random("aim").below(6)) {
        case 0:
            return some_session();
        case 1: {
            const auto ahead = judge_.log().predecessor(directory, sender);
            return ahead != nullptr ? ahead->owner : sender;
        }
        case 2:
            return queue.empty() ? sender : queue.begin()->second->owner;
        default:
            return sender;
    }
}

/// Short, about as long as a session lasts, or much longer.
duration adversary::lasting() {
    const duration timeout = stage_.what.session_timeout;
    if (stage_.what.brief) {
        return timeout / 16 + stage_.up_to("lasting", timeout * 3 / 8);
    }
    switch (stage_.random("lasting").below(4)) {
        case 0:
            return stage_.up_to("lasting", timeout / 16);
        case 1:
            return stage_.up_to("lasting", timeout / 2);
        case 2:
            return timeout / 2 + stage_.up_to("lasting", timeout * 3 / 4);
        default:
            return stage_.up_to("lasting", timeout * 5 / 2);
    }
}

int adversary::some_server(bool leading) {
    const int leader = stage_.servers.leader();
    if (leading && leader >= 0) {
        return leader;
    }
    const int size = stage_.cluster.size();
    const int drawn =
        static_cast<int>(stage_.random("some_server").below(static_cast<std::uint64_t>(size)));
    return drawn != leader ? drawn : (drawn + 1) % size;
}

std::string adversary::some_directory() {
    const auto& clients = stage_.what.clients;
    const auto& objects = clients[stage_.random("some_directory").below(clients.size())].objects;
    const plan::object& drawn = objects[stage_.random("some_directory").below(objects.size())];
    if (drawn.more_directories.empty()) {
        return drawn.directory;
    }
    const auto all = drawn.directories();
    return all[stage_.random("some_directory").below(all.size())];
}

program* adversary::program_of(std::int64_t session) const {
    const auto found = std::find_if(programs_.begin(), programs_.end(), [&](const auto& p) {
        return p->record()->sessions.contains(session);
    });
    return found == programs_.end() ? nullptr : found->get();
}

}  // namespace latchkey::simulation
