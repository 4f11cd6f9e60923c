#pragma once

#include "hold/hold_state.hpp"

#include <chrono>
#include <memory>
#include <stop_token>

namespace latchkey::inline v0 {

/// Requests a stop when less than a margin is left of a hold's validity. Each proof moves the
/// deadline, so it looks again then. It ends when it has requested the stop, and when the hold is
/// released. A loss requests the stop as well: see hold_state::lose().
class risk_warning : public std::enable_shared_from_this<risk_warning> {
public:
    /// Any thread.
    risk_warning(const std::shared_ptr<hold_state>& of, std::chrono::nanoseconds margin)
        : of_(of), core_(of->core()), margin_(margin) {}

    [[nodiscard]] std::chrono::nanoseconds margin() const noexcept { return margin_; }

    [[nodiscard]] const std::stop_source& stop() const noexcept { return stop_; }

    /// On the loop.
    void look() {
        const auto held = of_.lock();
        if (!held || !held->owner() || stop_.stop_requested()) {
            return;
        }
        if (!held->valid() && held->why_lost() == loss_reason::none) {
            return;  // released
        }
        const auto left = held->remaining();
        if (left <= margin_) {
            core_->callbacks().request_stop(stop_);
            return;
        }
        // The loop keeps it alive until then.
        core_->loop().start_timer(core_->loop().now() + left - margin_,
                                  [self = shared_from_this()] { self->look(); });
    }

private:
    const std::weak_ptr<hold_state> of_;
    const std::shared_ptr<client_core> core_;
    const std::chrono::nanoseconds margin_;
    std::stop_source stop_;
};

}  // namespace latchkey::inline v0
