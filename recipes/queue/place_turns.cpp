#include "queue/place_turns.hpp"

#include "client/fork_safe.hpp"
#include "loop/paced_retry.hpp"
#include "queue/queue_order.hpp"
#include "text/path.hpp"
#include "znode/change_watch.hpp"

#include <utility>

namespace latchkey::inline v0 {

// ---- callers ----

void place_turns::caller_goes() {
    if (callers_.fetch_sub(1) == 1) {
        const monitor_lock lock(guard_);
        look_if_kept();
    }
}

/// It may be kept for a caller that does not come any more.
void place_turns::look_if_kept() {
    if (place_ && !place_->held_ && !std::exchange(posted_, true)) {
        core_->post([self = shared_from_this()] { self->look(); });
    }
}

hold place_turns::take(telemetry::span* first) {
    const monitor_lock lock(guard_);
    if (!has_room() || (first == nullptr && for_the_first_)) {
        return {};
    }
    const auto now = core_->loop().now();
    if (now >= pattern_.proof->deadline() ||
        (successors_ != successors::none && !has_passes(now))) {
        return {};
    }
    hold_state::grant turn = pattern_;
    turn.owner = place_;
    turn.span = first != nullptr
                    ? std::move(*first)
                    : core_->telemetry().begin(recipe_->users_path(), recipe_->leads, now);
    auto taken = fork_safe<hold_state>(core_, std::move(turn));
    place_->hold_ = taken;
    place_->held_ = true;
    for_the_first_ = false;
    passes_ -= successors_ == successors::none ? 0U : 1U;
    present_ = taken;
    return hold_state::make_hold(std::move(taken));
}

void place_turns::look() {
    std::shared_ptr<place> closed;
    std::function<void()> serve;
    {
        const monitor_lock lock(guard_);
        posted_ = rests_ = false;
        look_again_.cancel();
        if (!place_) {
            return;
        }
        // If it is held, another thread was faster. The callers that wait may have been passed for
        // too long.
        if (!place_->held_) {
            const auto now = core_->loop().now();
            const bool rests = callers_ == 0;
            if (!may_go_on(now) || (rests && (now >= retained_until() || !may_retain()))) {
                closed = drop();
            } else {
                look_later(rests);
            }
        }
        serve = !closed && callers_ > 0 ? serve_ : nullptr;
    }
    if (closed) {
        closed->give_up();
    } else if (serve) {
        serve();
    }
}

/// Without a caller it ends by itself; with one, only because another participant waits.
void place_turns::look_later(bool rests) {
    auto at = time_point::max();
    if (rests) {
        at = retained_until();
    } else if (callers_ > 0 && successors_ == successors::some) {
        at = passes_end_;
    }
    if (at != time_point::max()) {
        look_again_.start(at, [self = shared_from_this()] { self->look(); });
        rests_ = rests;
    }
}

// ---- a hold ----

bool place_turns::give_back(place& of, bool clean, time_point now) {
    const monitor_lock lock(guard_);
    const bool is_present = place_.get() == &of;
    of.held_ = false;
    of.hold_.reset();
    if (is_present) {
        present_.reset();
    }
    if (!is_present || !clean || !may_go_on(now) || (callers_ == 0 && !may_retain())) {
        if (is_present) {
            drop();
        }
        return false;
    }
    free_since_ = now;
    if (callers_ > 0 || !rests_) {
        look_if_kept();
    }
    return true;
}

// ---- what decides ----

/// Whether the place is worth keeping, although there is no hold.
bool place_turns::may_go_on(time_point now) const {
    const bool retains = recipe_->options().retain_for > std::chrono::nanoseconds::zero();
    const bool passes = successors_ == successors::none || has_passes(now);
    return has_room() && ((callers_ > 0 && passes) || (retains && successors_ != successors::some));
}

void place_turns::allow_passes() {
    passes_ = recipe_->options().local_passes;
    passes_end_ = recipe_->options().local_time > std::chrono::nanoseconds::zero()
                      ? time_after(core_->loop(), recipe_->options().local_time)
                      : time_point::max();
}

place_turns::time_point place_turns::retained_until() const {
    const std::chrono::nanoseconds longest = recipe_->options().retain_for;
    return longest < time_point::max() - free_since_ ? free_since_ + longest : time_point::max();
}

std::shared_ptr<place_turns::place> place_turns::drop() {
    if (std::exchange(retained_, false)) {
        core_->end_retention();
    }
    return std::exchange(place_, nullptr);
}

// ---- the place ----

void place_turns::begin(std::shared_ptr<place> p,
                        const std::shared_ptr<hold_state>& first,
                        hold_state::grant pattern,
                        std::function<void()> serve) {
    const std::string own = pattern.paths->front();
    {
        const monitor_lock lock(guard_);
        p->held_ = true;
        p->hold_ = first;
        present_ = first;
        place_ = std::move(p);
        pattern_ = std::move(pattern);
        pattern_.next_turn = std::make_shared<std::atomic<std::uint32_t>>(1);
        serve_ = std::move(serve);
        for_the_first_ = rests_ = false;
        successors_ = successors::unlisted;
        allow_passes();
    }
    looking_.start(look_for_successors(own), [](bool) {});
}

/// A watched list of the directory, sent after the grant, and again at each change until it shows a
/// participant behind `own`. Only the holder has it, because a watch on the directory in each
/// waiter would wake all of them at each change. Cost: one list, and one for each change of the
/// directory; no call waits for it. On one connection.
///
/// A change is nearly always a participant that joins, so it counts as one that waits.
task<bool> place_turns::look_for_successors(std::string own) {
    paced_retry again(core_->loop());
    while (true) {
        const change_watch watch;
        auto asked = watch.send(*core_, request::children(recipe_->directory));
        const reply r = co_await asked;
        const bool is_last = r.ok() && queue_list(r.names, recipe_->markers).is_last(name_of(own));
        if (is_last) {
            note(successors::none);
            auto changed = watch.until_changed(*core_);
            co_await changed;
        }
        note(successors::some);
        if (r.ok() && !is_last) {
            co_return true;
        }
        if (!r.ok()) {
            auto pause = again.pause();
            co_await pause;
        }
    }
}

void place_turns::note(successors s) {
    {
        const monitor_lock lock(guard_);
        if (successors_ == successors::none) {
            allow_passes();
        }
        successors_ = s;
    }
    // Not from inside of the task: it ends together with the place.
    core_->post([self = shared_from_this()] { self->look(); });
}

void place_turns::close() {
    std::shared_ptr<place> closed;
    bool unused = false;
    {
        const monitor_lock lock(guard_);
        closed = drop();
        unused = closed && !closed->held_;
    }
    if (unused) {
        closed->give_up();
    }
}

place_turns::last_turn place_turns::end(place& of) {
    {
        const monitor_lock lock(guard_);
        if (place_ && place_.get() != &of) {
            return {false, of.hold_};  // turns begin in another place already
        }
    }
    look_again_.cancel();
    looking_.drop();
    const monitor_lock lock(guard_);
    const bool was_kept = place_ && !of.held_;
    drop();
    return {was_kept, of.hold_};
}

}  // namespace latchkey::inline v0
