#include <latchkey/group.hpp>

#include "client/blocking_read.hpp"
#include "client/fork_safe.hpp"
#include "client/retrying_operation.hpp"
#include "group/group_watch.hpp"
#include "text/path.hpp"
#include "znode/persistent_node.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

constexpr auto longest_pause = std::chrono::hours(1);

/// Joins a group and reports when that is done. The persistent_node lives on after this call.
class joining final : public retrying_operation {
public:
    joining(const std::shared_ptr<client_core>& core, std::shared_ptr<persistent_node> p)
        : retrying_operation(core), presence_(std::move(p)) {}

private:
    void begin() override {
        presence_->start([weak = weak_from_this()](failure why, bool entered) {
            const auto self = std::static_pointer_cast<joining>(weak.lock());
            if (self && !self->finished()) {
                self->finish({std::move(why), entered});
            }
        });
    }

    void give_up() override {
        presence_->leave();
        finish({});
    }

    const std::shared_ptr<persistent_node> presence_;
};

}  // namespace

// ---- a member ----

class membership::state {
public:
    explicit state(std::shared_ptr<persistent_node> p) : presence_(std::move(p)) {}

    state(const state&) = delete;
    state& operator=(const state&) = delete;

    ~state() {
        if (!presence_->core()->forked()) {
            presence_->core()->post([p = presence_] { p->leave(); });
        }
    }

    [[nodiscard]] const persistent_node& at() const noexcept { return *presence_; }

    void set_data(std::string data) {
        presence_->core()->post(
            [p = presence_, data = std::move(data)]() mutable { p->set_data(std::move(data)); });
    }

    static membership make(std::shared_ptr<persistent_node> p) {
        return membership(std::make_shared<state>(std::move(p)));
    }

private:
    std::shared_ptr<persistent_node> presence_;
};

membership::membership(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

membership& membership::operator=(membership&& other) noexcept {
    state_ = std::move(other.state_);
    return *this;
}

membership::~membership() = default;

bool membership::present() const noexcept {
    return state_ && !state_->at().core()->forked() && state_->at().here();
}

std::string membership::name() const {
    return state_ ? std::string(name_of(state_->at().path())) : std::string();
}

void membership::set_data(std::string data) {
    if (state_ && !state_->at().core()->forked()) {
        state_->at().check_data(data);
        state_->set_data(std::move(data));
    }
}

void membership::leave() noexcept {
    state_.reset();
}

// ---- the group ----

class group::impl {
public:
    impl(std::shared_ptr<client_core> c, std::string d, options h)
        : core(std::move(c)), directory(std::move(d)), how(std::move(h)) {
        check_path(directory);
        if (how.pause < std::chrono::nanoseconds::zero() || how.pause > longest_pause) {
            throw error(errc::invalid_argument,
                        "pause of " + std::to_string(how.pause.count()) +
                            " ns is out of range: give zero to one hour");
        }
    }

    [[nodiscard]] std::shared_ptr<persistent_node> place(std::string name,
                                                         std::string data,
                                                         bool only_if_free) const {
        if (name.find('/') != std::string::npos || name.empty()) {
            throw error(errc::invalid_argument,
                        "member \"" + escaped(name) +
                            "\" is not a name: give one component of a path, without '/'");
        }
        std::string path = join_path(directory, name);
        check_path(path);
        auto place = fork_safe<persistent_node>(
            core,
            persistent_node::settings{.path = std::move(path),
                                      .data = {},
                                      .access = how.access.value_or(core->access()),
                                      .only_if_free = only_if_free});
        place->check_data(data);
        place->set_data(std::move(data));
        return place;
    }

    const std::shared_ptr<client_core> core;
    const std::string directory;
    const options how;
};

group::group(client& c, std::string path) : group(c, std::move(path), options{}) {}

group::group(client& c, std::string path, options how)
    : impl_(fork_safe<impl>(client_core::of(c), std::move(path), std::move(how))) {}

group::~group() = default;

membership group::join(std::string name, std::string data, std::stop_token stop) {
    return join_within(
        std::chrono::nanoseconds::max(), std::move(name), std::move(data), std::move(stop));
}

membership group::join_within(std::chrono::nanoseconds limit,
                              std::string name,
                              std::string data,
                              std::stop_token stop) {
    const auto place = impl_->place(std::move(name), std::move(data), limit.count() <= 0);
    const bool entered = wait_for(std::make_shared<joining>(impl_->core, place), limit, stop);
    return entered ? membership::state::make(place) : membership();
}

void group::async_join(std::chrono::nanoseconds limit,
                       std::string name,
                       std::string data,
                       std::stop_token stop,
                       join_handler handler) {
    const auto place = impl_->place(std::move(name), std::move(data), limit.count() <= 0);
    start_async(std::make_shared<joining>(impl_->core, place),
                limit,
                stop,
                [place, handler = std::move(handler)](std::error_code ec, bool entered) {
                    handler(ec, entered ? membership::state::make(place) : membership());
                });
}

std::vector<member> group::members() {
    reply r = blocking_read(*impl_->core, request::children(impl_->directory));
    if (r.code == result_code::no_node) {
        return {};
    }
    failure_of(r.code, impl_->directory).raise_unless(r.ok());
    std::sort(r.names.begin(), r.names.end());
    std::vector<request> questions;
    for (const std::string& name : r.names) {
        questions.push_back(request::get(join_path(impl_->directory, name)));
    }
    const auto answers = blocking_read(*impl_->core, questions);
    std::vector<member> found;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const reply& a = answers[i];
        if (a.code != result_code::no_node) {  // it left meanwhile
            failure_of(a.code, questions[i].path).raise_unless(a.ok());
            found.push_back({.name = r.names[i],
                             .data = a.data,
                             .session_id = a.stat.ephemeral_owner,
                             .czxid = a.stat.czxid,
                             .version = a.stat.version});
        }
    }
    return found;
}

subscription group::watch(members_listener listener) {
    impl_->core->check_not_forked();
    const auto watching = std::make_shared<group_watch>(
        impl_->core, impl_->directory, impl_->how.pause, std::move(listener));
    impl_->core->post([watching] { watching->start(); });
    return subscription(std::shared_ptr<void>(watching.get(), [watching](void*) {
        if (!watching->core()->forked()) {
            watching->end();
        }
    }));
}

const std::string& group::path() const noexcept {
    return impl_->directory;
}

}  // namespace latchkey
