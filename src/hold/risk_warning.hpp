#pragma once

#include "client/session_listener.hpp"
#include "hold/hold_state.hpp"
#include "loop/loop.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <utility>

namespace latchkey::inline v0 {

/// Requests a stop when less than a margin is left of a hold's validity. Each proof moves the
/// deadline, so it looks again then; a server that grants a shorter timeout moves it back, so it
/// looks with each connection. It ends when it has requested the stop, and when the hold is
/// released. A loss requests the stop as well: see hold_state::lose().
class risk_warning : public session_listener, public std::enable_shared_from_this<risk_warning> {
public:
    /// Any thread.
    risk_warning(const std::shared_ptr<hold_state>& of, std::chrono::nanoseconds margin)
        : of_(of), core_(of->core()), margin_(margin), again_(core_->loop()) {}

    [[nodiscard]] std::chrono::nanoseconds margin() const noexcept { return margin_; }

    [[nodiscard]] const std::stop_source& stop() const noexcept { return stop_; }

    /// On the loop.
    void look() {
        const auto held = of_.lock();
        const bool released = !held || (!held->valid() && held->why_lost() == loss_reason::none);
        if (released || !held->owner() || stop_.stop_requested()) {
            return core_->detach(this);
        }
        const auto left = held->remaining();
        if (left <= margin_) {
            core_->callbacks().request_stop(stop_);
            return core_->detach(this);
        }
        if (!std::exchange(attached_, true)) {
            core_->attach(shared_from_this());
        }
        // The loop keeps it alive until then.
        again_.start(left - margin_, [self = shared_from_this()] { self->look(); });
    }

    void session_connected() override { look(); }

    void client_closed(const failure&) override { core_->detach(this); }

private:
    const std::weak_ptr<hold_state> of_;
    const std::shared_ptr<client_core> core_;
    const std::chrono::nanoseconds margin_;
    std::stop_source stop_;
    timer again_;
    bool attached_ = false;
};

}  // namespace latchkey::inline v0
