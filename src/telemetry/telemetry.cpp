#include "telemetry/telemetry.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace latchkey::inline v0 {

void telemetry::end(move_only_function<void()> done) {
    if (events_) {
        events_->end(std::move(done));
    } else {
        done();
    }
}

/// Out of memory, it is a loss for the observer only.
void telemetry::notify(event e, const std::string& path, const std::string& node) noexcept {
    try {
        e.at = std::chrono::system_clock::now();
        e.session = session_();
        events_->notify(e, path, node);
    } catch (const std::bad_alloc&) {
        events_->drop();
    }
}

// ---- the client ----

void telemetry::state_changed(connection_state s, const std::shared_ptr<const validity>& v) {
    if (s == connection_state::connected) {
        count(sessions_);
    }
    if (is_connected(s)) {
        count(connections_);
    }
    {
        const monitor_lock lock(guard_);
        if (is_connected(state_) && !is_connected(s)) {
            disconnected_since_ = loop_->now();
        }
        state_ = s;
        validity_ = v;
    }
    if (events_) {
        notify({.what = event_kind::state, .state = s}, {}, {});
    }
}

void telemetry::answered(request::kind what,
                         std::chrono::nanoseconds took,
                         result_code code,
                         bool quorum_write) {
    if (quorum_write) {
        write_round_trip_.store(took.count(), std::memory_order_relaxed);
    }
    if (events_) {
        notify({.what = event_kind::request,
                .took = took,
                .operation = to_string(what),
                .error = failure_of(code, {}).code},
               {},
               {});
    }
}

void telemetry::transacted(const std::string& path, time_point begun, const failure& why) {
    if (!why) {
        count(transactions_);
    }
    if (events_) {
        notify({.what = event_kind::transaction, .took = loop_->now() - begun, .error = why.code},
               {},
               path);
    }
}

// ---- holds ----

namespace {

std::string path_of(const telemetry::span& s) {
    return s.path ? *s.path : std::string();
}

}  // namespace

telemetry::span telemetry::begin(const std::string& path, bool leads, time_point begun) {
    count(waiting_);
    return {.id = spans_.fetch_add(1, std::memory_order_relaxed) + 1,
            .begun = begun,
            .path = events_ ? std::make_shared<const std::string>(path) : nullptr,
            .leads = leads};
}

void telemetry::queued(const span& s, const std::string& node, std::size_t ahead, lock_mode mode) {
    if (events_) {
        notify({.what = event_kind::queued,
                .span = s.id,
                .leads = s.leads,
                .took = loop_->now() - s.begun,
                .ahead = ahead,
                .mode = mode},
               path_of(s),
               node);
    }
}

void telemetry::notify(event_kind what, const span& s, const grant& g, loss_reason why) {
    if (events_) {
        notify({.what = what,
                .span = s.id,
                .leads = s.leads,
                .took = loop_->now() - s.begun,
                .mode = g.mode,
                .token = g.token,
                .why = why,
                .direct = s.direct},
               path_of(s),
               g.node);
    }
}

void telemetry::granted(span& s, const grant& g) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    count(acquired_);
    count(held_);
    if (s.direct) {
        count(acquired_directly_);
    }
    if (events_) {
        notify(event_kind::acquired, s, g);
        s.begun = loop_->now();
    }
}

void telemetry::not_granted(const span& s, const failure& why) {
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    count(not_acquired_);
    if (events_) {
        notify({.what = event_kind::not_acquired,
                .span = s.id,
                .leads = s.leads,
                .took = loop_->now() - s.begun,
                .error = why.code},
               path_of(s),
               {});
    }
}

void telemetry::converted(const span& s, const grant& g) {
    notify(event_kind::converted, s, g);
}

void telemetry::released(const span& s, const grant& g) {
    held_.fetch_sub(1, std::memory_order_relaxed);
    count(released_);
    notify(event_kind::released, s, g);
}

void telemetry::lost(const span& s, const grant& g, loss_reason why) {
    held_.fetch_sub(1, std::memory_order_relaxed);
    count(lost_);
    notify(event_kind::lost, s, g, why);
}

// ---- for threads outside ----

client_stats telemetry::stats() const {
    const auto read = [](const counter& c) { return c.load(std::memory_order_relaxed); };
    client_stats now{.acquired = read(acquired_),
                     .acquired_directly = read(acquired_directly_),
                     .not_acquired = read(not_acquired_),
                     .released = read(released_),
                     .lost = read(lost_),
                     .sessions = read(sessions_),
                     .connections = read(connections_),
                     .requests = read(requests_),
                     .transactions = read(transactions_),
                     .events_dropped = events_ ? events_->dropped() : 0,
                     .waiting = read(waiting_),
                     .held = read(held_),
                     .write_round_trip = std::chrono::nanoseconds(
                         write_round_trip_.load(std::memory_order_relaxed))};
    const monitor_lock lock(guard_);
    now.state = state_;
    const time_point present = loop_->now();
    if (validity_) {
        now.validity_left =
            std::max(validity_->deadline() - std::min(present, validity_->deadline()),
                     std::chrono::nanoseconds::zero());
    }
    if (!is_connected(state_) && disconnected_since_ != time_point()) {
        now.disconnected_for = present - disconnected_since_;
    }
    return now;
}

}  // namespace latchkey::inline v0
