#include "queue/place_turns.hpp"

#include "client/fork_safe.hpp"
#include "queue/kept_mark.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

using behind = successor_watch::behind;

// ---- callers ----

hold place_turns::take(telemetry::span* first) {
    const monitor_lock lock(guard_);
    if (!has_room() || (first == nullptr && for_the_first_)) {
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
    auto& all = place_->granted_;
    if (all.size() > 2 * place_->held_ + 16) {
        std::erase_if(all, [](const auto& one) { return one.expired(); });
    }
    all.push_back(taken);
    if (marked_) {
        core_->post([shown = place_] { shown->show_kept(false); });
        marked_ = rests_ = false;  // it is to be marked again later
    }
    ++place_->held_;
    for_the_first_ = false;
    passes_ -= behind_ == behind::none ? 0U : 1U;
    present_ = taken;
    return hold_state::make_hold(std::move(taken));
}

place_turns::seen place_turns::look_at_it() const {
    const monitor_lock lock(guard_);
    return {place_ && place_->held_ == 0, present_.lock()};
}

void place_turns::keep_for_the_first() {
    const monitor_lock lock(guard_);
    for_the_first_ = true;
}

void place_turns::look() {
    if (const auto serve = look_once()) {
        serve();
        if (shares_) {
            static_cast<void>(look_once());  // some may have been served, and no pass be left
        }
    }
}

/// Returns what serves the callers, if there are any and a turn may begin.
std::function<void()> place_turns::look_once() {
    std::shared_ptr<place> kept;
    std::shared_ptr<place> closed;
    bool unused = false;
    std::function<void()> serve;
    {
        const monitor_lock lock(guard_);
        posted_ = rests_ = false;
        look_again_.cancel();
        if (!place_) {
            return nullptr;
        }
        if (!shares_ && place_->held_ > 0) {
            // Another thread was faster. The callers that wait may have been passed for too long.
            return callers_ > 0 ? serve_ : nullptr;
        }
        const auto now = core_->loop().now();
        unused = place_->held_ == 0;
        const bool rests = unused && callers_ == 0;
        if (!may_go_on(now) || (rests && (now >= retained_until() || !may_retain()))) {
            closed = drop();
        } else {
            if (rests && now - free_since_ >= kept_mark::after && !std::exchange(marked_, true)) {
                kept = place_;
            }
            look_later(rests);
            serve = callers_ > 0 ? serve_ : nullptr;
        }
    }
    if (closed) {
        unused ? closed->give_up() : closed->close();
    } else if (kept) {
        kept->show_kept(true);
    }
    return serve;
}

/// Without a caller it is to be marked, and ends by itself; with one, it ends only because another
/// participant waits.
void place_turns::look_later(bool rests) {
    auto at = time_point::max();
    if (rests) {
        at =
            marked_ ? retained_until() : std::min(retained_until(), free_since_ + kept_mark::after);
    } else if (callers_ > 0 && behind_ == behind::others) {
        at = passes_end_;
    }
    if (at != time_point::max()) {
        look_again_.start(at, [self = shared_from_this()] { self->look(); });
        rests_ = rests;
    }
}

// ---- a hold ----

bool place_turns::give_back(place& of, bool clean) {
    const monitor_lock lock(guard_);
    const bool is_present = place_.get() == &of;
    if (--of.held_ > 0) {
        if (is_present && !clean) {
            core_->post([closed = drop()] { closed->close(); });
        }
        return true;
    }
    of.granted_.clear();
    if (is_present) {
        present_.reset();
    }
    const auto now = core_->loop().now();
    if (!is_present || !clean || !may_go_on(now) || (callers_ == 0 && !may_retain())) {
        if (is_present) {
            drop();
        }
        return false;
    }
    free_since_ = now;
    if ((callers_ > 0 || !rests_) && !std::exchange(posted_, true)) {
        core_->post([self = shared_from_this()] { self->look(); });
    }
    return true;
}

// ---- what decides ----

/// Whether a turn could begin beside those that last, or after them.
bool place_turns::has_room() const {
    return place_ && (shares_ || place_->held_ == 0) &&
           *pattern_.next_turn + place_->held_ < fencing_token::turns;
}

/// Whether the place is worth keeping, although there is no hold or readers hold.
bool place_turns::may_go_on(time_point now) const {
    const bool retains = as_->options().retain_for > std::chrono::nanoseconds::zero();
    const bool wanted = callers_ > 0;
    if (!has_room()) {
        return place_ && place_->held_ > 0 && !wanted;
    }
    switch (behind_) {
        case behind::none:
            return wanted || retains || place_->held_ > 0;
        case behind::unlisted:
            return retains || (wanted && has_passes(now)) || place_->held_ > 0;
        case behind::others:
            return wanted ? has_passes(now) : place_->held_ > 0;
    }
    return false;
}

bool place_turns::has_passes(time_point now) const {
    return passes_ > 0 && now < passes_end_;
}

void place_turns::allow_passes() {
    const queue_options& o = as_->options();
    passes_ = o.local_passes;
    passes_end_ = o.local_time > std::chrono::nanoseconds::zero()
                      ? time_after(core_->loop(), o.local_time)
                      : time_point::max();
}

place_turns::time_point place_turns::retained_until() const {
    const std::chrono::nanoseconds longest = as_->options().retain_for;
    return longest < time_point::max() - free_since_ ? free_since_ + longest : time_point::max();
}

bool place_turns::may_retain() {
    retained_ = retained_ || core_->begin_retention();
    return retained_;
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
    const std::string own = pattern.paths.front();
    const std::int64_t joined = pattern.token.zxid;
    {
        const monitor_lock lock(guard_);
        p->held_ = 1;
        p->granted_.assign(1, first);
        present_ = first;
        place_ = std::move(p);
        pattern_ = std::move(pattern);
        pattern_.next_turn = std::make_shared<std::atomic<std::uint32_t>>(1);
        serve_ = std::move(serve);
        for_the_first_ = rests_ = marked_ = false;
        behind_ = behind::unlisted;
        allow_passes();
    }
    successors_ =
        std::make_unique<successor_watch>(core_, as_, own, joined, [this](behind b) { note(b); });
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
    std::shared_ptr<place> closed;
    bool unused = false;
    {
        const monitor_lock lock(guard_);
        closed = drop();
        unused = closed && closed->held_ == 0;
    }
    if (unused) {
        closed->give_up();
    } else if (closed && shares_) {
        closed->close();
    }
}

place_turns::last_turns place_turns::end(place& of) {
    {
        const monitor_lock lock(guard_);
        if (place_ && place_.get() != &of) {
            return {false, of.granted_};  // turns begin in another place already
        }
    }
    look_again_.cancel();
    successors_.reset();
    const monitor_lock lock(guard_);
    const bool was_kept = place_ && of.held_ == 0;
    drop();
    return {was_kept, of.granted_};
}

}  // namespace latchkey::inline v0
