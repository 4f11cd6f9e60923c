#include "queue/place_turns.hpp"

#include "client/fork_safe.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

using behind = successor_watch::behind;

// ---- callers ----

hold place_turns::take(telemetry::span* first) {
    const monitor_lock lock(guard_);
    if (!place_ || !free_ || (first == nullptr && for_the_first_)) {
        return {};
    }
    const auto now = core_->loop().now();
    if (now >= pattern_.proof->deadline() || (behind_ != behind::none && !has_passes(now))) {
        return {};
    }
    hold_state::grant turn = pattern_;
    turn.owner = place_;
    turn.span = first != nullptr ? std::move(*first)
                                 : core_->telemetry().begin(as_->users_path(), as_->leads, now);
    auto taken = fork_safe<hold_state>(core_, std::move(turn));
    free_ = for_the_first_ = false;
    passes_ -= behind_ == behind::none ? 0U : 1U;
    present_ = taken;
    return hold_state::make_hold(std::move(taken));
}

place_turns::seen place_turns::look_at_it() const {
    const monitor_lock lock(guard_);
    return {place_ && free_, present_.lock()};
}

void place_turns::keep_for_the_first() {
    const monitor_lock lock(guard_);
    for_the_first_ = true;
}

void place_turns::look() {
    std::shared_ptr<place> unused;
    std::function<void()> serve;
    {
        const monitor_lock lock(guard_);
        posted_ = rests_ = false;
        look_again_.cancel();
        if (!place_) {
            return;
        }
        const auto now = core_->loop().now();
        if (!free_) {
            // Another thread was faster. The callers that wait may have been passed for too long.
            serve = callers_ > 0 ? serve_ : nullptr;
        } else if (!may_go_on(now) ||
                   (callers_ == 0 && (now >= retained_until() || !may_retain()))) {
            unused = drop();
        } else {
            // Without a caller it ends by itself; with one, only because another participant waits.
            const auto until = callers_ == 0               ? retained_until()
                               : behind_ == behind::others ? passes_end_
                                                           : time_point::max();
            if (until != time_point::max()) {
                look_again_.start(until, [self = shared_from_this()] { self->look(); });
                rests_ = callers_ == 0;
            }
            serve = callers_ > 0 ? serve_ : nullptr;
        }
    }
    if (unused) {
        unused->give_up();
    } else if (serve) {
        serve();
    }
}

// ---- a hold ----

bool place_turns::give_back(bool clean) {
    const monitor_lock lock(guard_);
    const auto now = core_->loop().now();
    present_.reset();
    if (!clean || !may_go_on(now) || (callers_ == 0 && !may_retain())) {
        drop();
        return false;
    }
    free_ = true;
    free_since_ = now;
    if ((callers_ > 0 || !rests_) && !std::exchange(posted_, true)) {
        core_->post([self = shared_from_this()] { self->look(); });
    }
    return true;
}

// ---- what decides ----

/// Whether the place is worth keeping when a turn has ended.
bool place_turns::may_go_on(time_point now) const {
    const bool retains = as_->retain_for > std::chrono::nanoseconds::zero();
    if (!place_ || *pattern_.next_turn >= fencing_token::turns) {
        return false;
    }
    switch (behind_) {
        case behind::none:
            return callers_ > 0 || retains;
        case behind::unlisted:
            return retains || (callers_ > 0 && has_passes(now));
        case behind::others:
            return callers_ > 0 && has_passes(now);
    }
    return false;
}

bool place_turns::has_passes(time_point now) const {
    return passes_ > 0 && now < passes_end_;
}

void place_turns::allow_passes() {
    passes_ = as_->local_passes;
    passes_end_ = as_->local_time > std::chrono::nanoseconds::zero()
                      ? time_after(core_->loop(), as_->local_time)
                      : time_point::max();
}

place_turns::time_point place_turns::retained_until() const {
    return as_->retain_for < time_point::max() - free_since_ ? free_since_ + as_->retain_for
                                                             : time_point::max();
}

bool place_turns::may_retain() {
    retained_ = retained_ || core_->begin_retention();
    return retained_;
}

std::shared_ptr<place_turns::place> place_turns::drop() {
    if (std::exchange(retained_, false)) {
        core_->end_retention();
    }
    free_ = false;
    return std::exchange(place_, nullptr);
}

// ---- the place ----

void place_turns::begin(std::shared_ptr<place> p,
                        const std::shared_ptr<hold_state>& first,
                        hold_state::grant pattern,
                        std::function<void()> serve) {
    const std::string own = pattern.paths.front();
    {
        const monitor_lock lock(guard_);
        place_ = std::move(p);
        pattern_ = std::move(pattern);
        pattern_.next_turn = std::make_shared<std::atomic<std::uint32_t>>(1);
        serve_ = std::move(serve);
        present_ = first;
        free_ = for_the_first_ = rests_ = false;
        behind_ = behind::unlisted;
        allow_passes();
    }
    successors_ = std::make_unique<successor_watch>(core_, as_, own, [this](behind b) { note(b); });
}

void place_turns::note(behind b) {
    {
        const monitor_lock lock(guard_);
        if (behind_ == behind::none) {
            allow_passes();
        }
        behind_ = b;
    }
    // Not from inside of the watch: it ends together with the place.
    core_->post([self = shared_from_this()] { self->look(); });
}

void place_turns::close() {
    std::shared_ptr<place> unused;
    {
        const monitor_lock lock(guard_);
        const bool is_free = free_;
        unused = drop();
        if (!is_free) {
            unused.reset();  // the present hold gives it up
        }
    }
    if (unused) {
        unused->give_up();
    }
}

place_turns::last_turn place_turns::end() {
    look_again_.cancel();
    successors_.reset();
    const monitor_lock lock(guard_);
    const bool is_free = free_;
    const auto ended = drop();
    return {ended && is_free, present_.lock()};
}

}  // namespace latchkey::inline v0
