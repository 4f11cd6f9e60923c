#include "hold/hold_state.hpp"

#include "hold/risk_warning.hpp"
#include "loop/never_destroyed.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace latchkey::inline v0 {

hold_state::hold_state(std::shared_ptr<client_core> core, grant g)
    : core_(std::move(core)),
      validity_(g.proof ? std::move(g.proof) : core_->session_validity()),
      generation_(g.generation != 0 ? g.generation : core_->generation()),
      token_(g.token),
      next_turn_(std::move(g.next_turn)),
      owner_(std::move(g.owner)),
      writable_(g.writable),
      span_(std::move(g.span)),
      times_(g.times),
      mode_(g.mode),
      paths_(std::move(g.paths)),
      on_lost_(std::move(g.lost)) {
    core_->telemetry().granted(span_, known());
}

/// For the observer only: nothing is copied without one.
telemetry::grant hold_state::known() const noexcept {
    telemetry::grant g{.mode = mode()};
    if (core_->telemetry().is_observed()) {
        g.token = token();
        try {
            g.node = path();
        } catch (const std::bad_alloc&) {
            g.node.clear();
        }
    }
    return g;
}

/// None in a forked child: a lost thread may have the guard.
std::vector<std::string> hold_state::paths() const {
    if (core_->forked()) {
        return {};
    }
    const monitor_lock lock(guard_);
    return *paths_;
}

std::string hold_state::path() const {
    const auto all = paths();
    return all.empty() ? std::string() : all.front();
}

void hold_state::turn_into(lock_mode mode, std::string path) {
    {
        const monitor_lock lock(guard_);
        paths_ = std::make_shared<const std::vector<std::string>>(1, std::move(path));
    }
    mode_.store(mode, std::memory_order_release);
    core_->telemetry().converted(span_, known());
}

latchkey::fencing_token hold_state::token() const noexcept {
    if (core_->forked()) {
        return token_;  // a lost thread may have the guard, and the parent the next number
    }
    const monitor_lock lock(guard_);
    if (next_turn_) {
        token_.turn = next_turn_->fetch_add(1);
        next_turn_ = nullptr;
    }
    return token_;
}

bool hold_state::valid() noexcept {
    if (why_.load(std::memory_order_acquire) != loss_reason::none ||
        released_.load(std::memory_order_acquire) || core_->forked()) {
        return false;
    }
    const auto now = core_->loop().now();
    if (now < deadline()) {
        // A later proof may move the deadline after `why_` was set.
        return why_.load(std::memory_order_acquire) == loss_reason::none;
    }
    lose(now < times_.ends ? validity_->why_passed() : loss_reason::max_hold_passed);
    return false;
}

boottime_clock::time_point hold_state::deadline() const noexcept {
    return std::min(validity_->deadline(), times_.ends);
}

boottime_clock::time_point hold_state::valid_until() const noexcept {
    const auto until = deadline();
    return why_lost() == loss_reason::none ? until : boottime_clock::time_point::min();
}

std::chrono::nanoseconds hold_state::remaining() noexcept {
    return valid() ? std::max(deadline() - core_->loop().now(), std::chrono::nanoseconds::zero())
                   : std::chrono::nanoseconds::zero();
}

std::stop_token hold_state::at_risk(std::chrono::nanoseconds margin) {
    margin = std::max(margin, std::chrono::nanoseconds::zero());
    auto warning = std::make_shared<risk_warning>(shared_from_this(), margin);
    if (core_->forked()) {  // a lost thread may have the guard
        std::stop_source(warning->stop()).request_stop();
        return warning->stop().get_token();
    }
    {
        const monitor_lock lock(guard_);
        std::erase_if(warnings_, [](const auto& weak) { return weak.expired(); });
        for (const auto& weak : warnings_) {
            const auto other = weak.lock();
            if (other && other->margin() == margin && !other->stop().stop_requested()) {
                return other->stop().get_token();
            }
        }
        warnings_.push_back(warning);
    }
    if (why_lost() != loss_reason::none) {
        // lose() may not have seen it. The caller's stop callbacks are not registered yet.
        std::stop_source(warning->stop()).request_stop();
    }
    core_->post([warning] { warning->look(); });
    return warning->stop().get_token();
}

/// What a loss requests: the warnings first, because they come with the loss at the latest.
std::vector<std::stop_source> hold_state::stops_of_a_loss() const {
    std::vector<std::stop_source> all;
    const monitor_lock lock(guard_);
    for (const auto& weak : warnings_) {
        if (const auto warning = weak.lock()) {
            all.push_back(warning->stop());
        }
    }
    all.push_back(stop_);
    return all;
}

loss_reason hold_state::why_lost() const noexcept {
    return core_->forked() ? loss_reason::forked : why_.load(std::memory_order_acquire);
}

void hold_state::lose(loss_reason why) noexcept {
    loss_reason expected = loss_reason::none;
    if (released_.load(std::memory_order_acquire) || !why_.compare_exchange_strong(expected, why)) {
        return;
    }
    // Told before the program can answer the loss with a release.
    if (!over_.exchange(true)) {
        core_->telemetry().lost(span_, known(), why);
    }
    if (on_lost_) {
        core_->post(on_lost_);
    }
    core_->callbacks().request_stops(stops_of_a_loss());
}

void hold_state::call_after_loss(std::function<void()> code) {
    // If another thread is in lose(), it may not have handed over its request yet.
    core_->callbacks().request_stops(stops_of_a_loss(), std::move(code));
}

void hold_state::ask_back() noexcept {
    if (!released_.load(std::memory_order_acquire)) {
        core_->callbacks().request_stop(revocation_);
    }
}

void hold_state::end(std::shared_ptr<hold_state> ended) noexcept {
    if (ended && ended->core()->forked()) {
        leave_undestroyed(std::move(ended));
    } else if (ended) {
        ended->release(nullptr);
    }
}

void hold_state::release(hold_owner::gone_handler gone) {
    if (released_.exchange(true)) {
        return;
    }
    // A hold that another thread is declaring lost is told as that.
    if (why_.load(std::memory_order_acquire) == loss_reason::none && !over_.exchange(true)) {
        core_->telemetry().released(span_, known());
    }
    {
        // Who asks for the token now gets none above that of the next turn.
        const monitor_lock lock(guard_);
        next_turn_ = nullptr;
    }
    const auto now = core_->loop().now();
    const handing_on last = as_released(now);
    if (owner_->keeps(last.valid && !last.unanswered && !gone, now)) {
        if (gone) {
            core_->post([gone = std::move(gone)] { gone(false); });
        }
        return;
    }
    core_->post([self = shared_from_this(), gone = std::move(gone), last]() mutable {
        // The owner may refer to this object. It is dropped here, so that no cycle remains.
        std::exchange(self->owner_, nullptr)->release(std::move(gone), last);
    });
}

handing_on hold_state::as_released(boottime_clock::time_point now) const noexcept {
    const loss_reason why = why_.load(std::memory_order_acquire);
    return {.exclusive = mode() == lock_mode::exclusive,
            .valid = (why == loss_reason::none || why == loss_reason::resigned) && now < deadline(),
            .unanswered = open_transactions_.load() != 0};
}

// ---- guarded transactions ----

bool hold_state::may_transact() noexcept {
    return valid() && generation_ == core_->generation();
}

failure hold_state::hold_is_lost(const char* consequence) const {
    return {errc::hold_lost,
            '"' + escaped(path()) + "\": " + consequence + ": " +
                (released_ ? "the hold was released" : to_string(why_lost()))};
}

}  // namespace latchkey::inline v0
