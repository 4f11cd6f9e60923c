#include <latchkey/hold.hpp>

#include "client/hold_state.hpp"
#include "client/risk_warning.hpp"
#include "text/path.hpp"

#include <algorithm>
#include <utility>

#include <boost/thread/thread_only.hpp>

namespace latchkey::inline v0 {

const char* to_string(lock_mode m) noexcept {
    switch (m) {
        case lock_mode::shared:
            return "shared";
        case lock_mode::upgrade:
            return "upgrade";
        case lock_mode::exclusive:
            return "exclusive";
    }
    return "unknown";
}

const char* to_string(loss_reason why) noexcept {
    switch (why) {
        case loss_reason::none:
            return "not lost";
        case loss_reason::deadline_passed:
            return "no server confirmed the session in time";
        case loss_reason::session_expired:
            return "the servers ended the session";
        case loss_reason::session_replaced:
            return "a server replaced the session with another one";
        case loss_reason::znode_deleted:
            return "another client deleted the participant's znode";
        case loss_reason::client_closed:
            return "the client was closed";
        case loss_reason::forked:
            return "the hold belongs to the parent process";
        case loss_reason::suspended:
            return "the connection was lost, and the leader steps down then";
        case loss_reason::resigned:
            return "the leadership was given up";
    }
    return "unknown";
}

hold_state::hold_state(std::shared_ptr<client_core> core, grant g)
    : core_(std::move(core)),
      validity_(core_->session_validity()),
      generation_(core_->generation()),
      token_(g.token),
      owner_(std::move(g.owner)),
      mode_(g.mode),
      paths_(std::move(g.paths)) {}

std::vector<std::string> hold_state::paths() const {
    const monitor_lock lock(guard_);
    return paths_;
}

void hold_state::turn_into(lock_mode mode, std::string path) {
    {
        const monitor_lock lock(guard_);
        paths_.assign(1, std::move(path));
    }
    mode_.store(mode, std::memory_order_release);
}

bool hold_state::valid() noexcept {
    if (why_.load(std::memory_order_acquire) != loss_reason::none ||
        released_.load(std::memory_order_acquire) || core_->forked()) {
        return false;
    }
    const auto now = core_->loop().now();
    if (now < validity_->deadline()) {
        // A later proof may move the deadline after `why_` was set.
        return why_.load(std::memory_order_acquire) == loss_reason::none;
    }
    lose(validity_->why_passed());
    return false;
}

boottime_clock::time_point hold_state::valid_until() const noexcept {
    const auto until = validity_->deadline();
    return why_lost() == loss_reason::none ? until : boottime_clock::time_point::min();
}

std::chrono::nanoseconds hold_state::remaining() noexcept {
    return valid() ? std::max(validity_->deadline() - core_->loop().now(),
                              std::chrono::nanoseconds::zero())
                   : std::chrono::nanoseconds::zero();
}

std::stop_token hold_state::at_risk(std::chrono::nanoseconds margin) {
    const auto warning = std::make_shared<risk_warning>(shared_from_this(), margin);
    core_->post([warning] { warning->look(); });
    return warning->token();
}

loss_reason hold_state::why_lost() const noexcept {
    return core_->forked() ? loss_reason::forked : why_.load(std::memory_order_acquire);
}

void hold_state::lose(loss_reason why) noexcept {
    loss_reason expected = loss_reason::none;
    if (released_.load(std::memory_order_acquire) || !why_.compare_exchange_strong(expected, why)) {
        return;
    }
    core_->callbacks().request_stop(stop_);
}

void hold_state::call_after_loss(std::function<void()> code) {
    // If another thread is in lose(), it may not have handed over its request yet.
    core_->callbacks().request_stop(stop_, std::move(code));
}

void hold_state::ask_back() noexcept {
    if (!released_.load(std::memory_order_acquire)) {
        core_->callbacks().request_stop(revocation_);
    }
}

void hold_state::release(std::function<void()> gone) {
    if (released_.exchange(true)) {
        return;
    }
    core_->post([self = shared_from_this(), gone = std::move(gone)]() mutable {
        // The owner may refer to this object. It is dropped here, so that no cycle remains.
        std::exchange(self->owner_, nullptr)->release(std::move(gone));
    });
}

// ---- guarded transactions ----

namespace {

create_mode mode_of(operation::lifetime life) noexcept {
    switch (life) {
        case operation::lifetime::persistent:
            return create_mode::persistent;
        case operation::lifetime::ephemeral:
            return create_mode::ephemeral;
        case operation::lifetime::persistent_sequential:
            return create_mode::persistent_sequential;
        case operation::lifetime::ephemeral_sequential:
            return create_mode::ephemeral_sequential;
    }
    return create_mode::persistent;
}

request request_of(const operation& o, const acl& access) {
    check_path(o.path());
    switch (o.what()) {
        case operation::kind::create:
            return request::create(o.path(), o.data(), mode_of(o.life()), access);
        case operation::kind::set:
            return request::set(o.path(), o.data(), o.version());
        case operation::kind::remove:
            return request::remove(o.path(), o.version());
        case operation::kind::check:
            break;
    }
    return request::check(o.path(), o.version());
}

}  // namespace

void hold_state::transact(std::vector<operation> operations,
                          std::function<void(transact_outcome)> done) {
    std::vector<request> requests;
    try {
        if (operations.empty()) {
            throw error(errc::invalid_argument,
                        "a transaction without operations: give at least one");
        }
        for (const operation& o : operations) {
            requests.push_back(request_of(o, core_->access()));
        }
    } catch (const error& e) {
        core_->post([done = std::move(done), why = failure{e.code(), e.what()}] {
            done({why, {}});
        });
        return;
    }
    core_->post([self = shared_from_this(),
                 requests = std::move(requests),
                 done = std::move(done)]() mutable {
        self->send_transaction(std::move(requests), std::move(done));
    });
}

void hold_state::send_transaction(std::vector<request> operations,
                                  std::function<void(transact_outcome)> done) {
    if (!valid() || generation_ != core_->generation()) {
        done({failure{errc::hold_lost,
                      '"' + escaped(path()) + "\": nothing was sent: " +
                          (released_ ? "the hold was released" : to_string(why_lost()))},
              {}});
        return;
    }
    std::vector<std::string> named = paths();
    const std::size_t guards = named.size();
    std::vector<request> requests;
    for (const std::string& own : named) {
        requests.push_back(request::check(own));
    }
    for (request& r : operations) {
        named.push_back(r.path);
        requests.push_back(std::move(r));
    }
    request all = request::multi(std::move(requests));
    all.urgent = true;  // like the delete that may follow it
    core_->submit(
        std::move(all),
        [self = shared_from_this(), named = std::move(named), guards, done = std::move(done)](
            reply r) {
            std::vector<std::string> created;
            const failure f = self->failure_of_transaction(r, named, guards);
            if (!f) {
                for (std::size_t i = guards; i < r.results.size(); ++i) {
                    created.push_back(std::move(r.results[i].path));
                }
            }
            done({f, std::move(created)});
        });
}

failure hold_state::failure_of_transaction(const reply& r,
                                           const std::vector<std::string>& paths,
                                           std::size_t guards) {
    if (r.ok()) {
        return {};
    }
    if (outcome_unknown(r.code)) {
        return {errc::indeterminate,
                "the transaction guarded by \"" + escaped(paths.front()) + '"'};
    }
    for (std::size_t i = 0; i < r.results.size() && i < paths.size(); ++i) {
        const result_code code = r.results[i].code;
        if (code == result_code::ok || code == result_code::runtime_inconsistency) {
            continue;
        }
        if (i < guards && code == result_code::no_node) {
            lose(loss_reason::znode_deleted);
            return {errc::hold_lost,
                    '"' + escaped(paths[i]) + "\": nothing was applied: " + to_string(why_lost())};
        }
        failure f = failure_of(code, paths[i]);
        f.detail = (i < guards ? "the check of the hold's znode "
                               : "operation " + std::to_string(i - guards + 1) + " on ") +
                   f.detail + "; nothing was applied";
        return f;
    }
    failure f = failure_of(r.code, paths.front());
    if (f.code == errc::protocol) {
        f.code = errc::indeterminate;  // an unknown code says nothing about what was applied
    }
    return f;
}

std::vector<std::string> hold_state::transact_and_wait(std::vector<operation> operations) {
    core_->check_may_block();
    const auto outcome = std::make_shared<blocking_result<transact_outcome>>();
    transact(std::move(operations), [outcome](auto o) { outcome->set(std::move(o)); });
    auto [why, created] = outcome->get();
    why.raise();
    return created;
}

void hold_state::transact_and_tell(std::vector<operation> operations,
                                   hold::transact_handler handler) {
    transact(std::move(operations),
             [done = core_->callbacks().once(std::move(handler))](transact_outcome o) {
                 done(o.first.code, std::move(o.second));
             });
}

// ---- hold ----

hold::hold(std::shared_ptr<hold_state> state) noexcept : state_(std::move(state)) {}

hold& hold::operator=(hold&& other) noexcept {
    if (this != &other) {
        release();
        state_ = std::move(other.state_);
    }
    return *this;
}

hold::~hold() {
    release();
}

bool hold::valid() const noexcept {
    return state_ && state_->valid();
}

boottime_clock::time_point hold::valid_until() const noexcept {
    return state_ ? state_->valid_until() : boottime_clock::time_point::min();
}

std::chrono::nanoseconds hold::remaining() const noexcept {
    return state_ ? state_->remaining() : std::chrono::nanoseconds::zero();
}

std::stop_token hold::at_risk_within(std::chrono::nanoseconds margin) const {
    return state_ ? state_->at_risk(margin) : std::stop_token();
}

std::stop_token hold::lost() const noexcept {
    return state_ ? state_->lost() : std::stop_token();
}

std::stop_token hold::revocation_requested() const noexcept {
    return state_ ? state_->revocation_requested() : std::stop_token();
}

loss_reason hold::why_lost() const noexcept {
    return state_ ? state_->why_lost() : loss_reason::none;
}

fencing_token hold::token() const noexcept {
    return state_ ? state_->token() : fencing_token{};
}

std::string hold::path() const {
    return state_ ? state_->path() : std::string();
}

std::vector<std::string> hold::paths() const {
    return state_ ? state_->paths() : std::vector<std::string>();
}

lock_mode hold::mode() const noexcept {
    return state_ ? state_->mode() : lock_mode::exclusive;
}

std::vector<std::string> hold::transact(std::vector<operation> operations, std::error_code& ec) {
    return report(ec, [&] {
        if (!state_) {
            throw error(errc::hold_lost, "this hold is empty");
        }
        return state_->transact_and_wait(std::move(operations));
    });
}

void hold::async_transact(std::vector<operation> operations, transact_handler handler) {
    if (!state_ || state_->core()->forked()) {
        throw error(state_ ? errc::forked : errc::hold_lost,
                    state_ ? "this hold cannot be used" : "this hold is empty");
    }
    state_->transact_and_tell(std::move(operations), std::move(handler));
}

void hold::release() noexcept {
    const auto ended = std::exchange(state_, nullptr);
    if (ended && !ended->core()->forked()) {
        ended->release(nullptr);
    }
}

bool hold::release_and_wait() noexcept {
    if (!state_ || state_->core()->forked()) {
        release();
        return false;
    }
    const auto core = state_->core();
    const auto gone = std::make_shared<blocking_result<bool>>();
    std::exchange(state_, nullptr)->release([gone] { gone->set(true); });
    const boost::this_thread::disable_interruption uninterrupted;
    return core->may_block() && gone->get_for(core->options().close_timeout).has_value();
}

}  // namespace latchkey::inline v0
