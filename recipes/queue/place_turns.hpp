#pragma once

#include <latchkey/hold.hpp>

#include "client/client_core.hpp"
#include "hold/hold_state.hpp"
#include "loop/loop.hpp"
#include "loop/monitor.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// The turns that the callers of one object take in one place of the queue, without the servers.
/// When a hold is released, its place stays for another caller, or for lock_options::retain_for, or
/// is given up. (D. Dice, V. Marathe, N. Shavit, "Lock Cohorting", 2012.)
///
/// A turn is as good as the hold before it: the same znode, session and deadline. Its token has the
/// znode's zxid, and the number of the turn. No turn begins after the connection was lost, because
/// the client does not learn then that another participant has queued.
///
/// One for each object; it admits to one place at a time. Any thread, unless noted.
class place_turns final : public std::enable_shared_from_this<place_turns> {
public:
    /// Owns the znodes. On the loop.
    class place : public hold_owner {
    public:
        /// Deletes the znodes: there is no hold, and no other one follows.
        virtual void give_up() = 0;

    private:
        friend class place_turns;

        // Under the guard of its turns.
        bool held_ = false;
        std::weak_ptr<hold_state> hold_;  ///< perhaps released
    };

    place_turns(std::shared_ptr<client_core> core, std::shared_ptr<const queue_recipe> recipe)
        : core_(std::move(core)), recipe_(std::move(recipe)), look_again_(core_->loop()) {}

    // ---- the callers of the object ----

    /// A caller waits from now on, or does not wait any more.
    void caller_comes() noexcept { callers_.fetch_add(1); }

    void caller_goes();

    /// A turn, if one can begin at once; else an empty hold. `first` is the span of the first call
    /// that waits; null for a call that begins now. Such a call may pass those that wait: its
    /// thread runs already, and theirs have to be woken. Not after keep_for_the_first().
    [[nodiscard]] hold take(telemetry::span* first);

    /// What a caller finds that cannot have a turn at once.
    struct seen {
        bool is_free;  ///< a turn begins soon, or the place is given up
        std::shared_ptr<hold_state> hold = nullptr;  ///< the present or last one, if it is there
    };

    [[nodiscard]] seen look_at_it() const {
        const monitor_lock lock(guard_);
        return {place_ && !place_->held_, present_.lock()};
    }

    /// The next turn is for the first of the callers that wait.
    void keep_for_the_first() {
        const monitor_lock lock(guard_);
        for_the_first_ = true;
    }

    /// What waits or has ended may have changed. On the loop.
    void look();

    // ---- the place; on the loop ----

    /// The place was granted to `first`, whose grant is `pattern` but for the owner. `serve` is
    /// called on the loop when callers wait and a turn may begin.
    void begin(std::shared_ptr<place> p,
               const std::shared_ptr<hold_state>& first,
               hold_state::grant pattern,
               std::function<void()> serve);

    /// The object is not used any more: its place is given up, at once or with the present hold.
    void close();

    /// No other turn begins in this place. The owner gives it up.
    struct last_turn {
        bool is_over = false;                 ///< there is no hold, and the place was kept
        std::weak_ptr<hold_state> hold = {};  ///< its release may have begun
    };

    last_turn end(place& of);

    // ---- a hold ----

    /// A hold of the place is released. Returns whether the place stays. `clean`: it was not lost,
    /// and no transaction that was sent under it may be applied later; else no other turn begins.
    [[nodiscard]] bool give_back(place& of, bool clean, loop::clock::time_point now);

private:
    using time_point = loop::clock::time_point;

    /// Whether participants wait behind this place.
    enum class successors : std::uint8_t {
        unlisted,  ///< not known yet
        none,
        some  ///< or not known: the directory has changed, or could not be listed
    };

    [[nodiscard]] task<bool> look_for_successors(std::string own);
    void note(successors s);
    void look_if_kept() LATCHKEY_REQUIRES(guard_);
    void look_later(bool rests) LATCHKEY_REQUIRES(guard_);
    void allow_passes() LATCHKEY_REQUIRES(guard_);
    [[nodiscard]] bool may_go_on(time_point now) const LATCHKEY_REQUIRES(guard_);

    /// Whether a turn could begin.
    [[nodiscard]] bool has_room() const LATCHKEY_REQUIRES(guard_) {
        return place_ && !place_->held_ && *pattern_.next_turn < fencing_token::turns;
    }

    [[nodiscard]] bool has_passes(time_point now) const LATCHKEY_REQUIRES(guard_) {
        return passes_ > 0 && now < passes_end_;
    }

    [[nodiscard]] bool may_retain() LATCHKEY_REQUIRES(guard_) {
        retained_ = retained_ || core_->begin_retention();
        return retained_;
    }

    std::shared_ptr<place> drop() LATCHKEY_REQUIRES(guard_);
    [[nodiscard]] time_point retained_until() const LATCHKEY_REQUIRES(guard_);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    std::atomic<std::size_t> callers_{0};

    // On the loop only.
    timer look_again_;
    running_task looking_;

    mutable thread_mutex guard_;
    std::shared_ptr<place> place_ LATCHKEY_GUARDED_BY(guard_);  ///< null: no turn may begin
    hold_state::grant pattern_ LATCHKEY_GUARDED_BY(guard_);
    std::function<void()> serve_ LATCHKEY_GUARDED_BY(guard_);
    std::weak_ptr<hold_state> present_ LATCHKEY_GUARDED_BY(guard_);  ///< the last that began
    time_point free_since_ LATCHKEY_GUARDED_BY(guard_);              ///< if there is no hold
    bool for_the_first_ LATCHKEY_GUARDED_BY(guard_) = false;
    bool retained_ LATCHKEY_GUARDED_BY(guard_) = false;  ///< counts in the client
    bool posted_ LATCHKEY_GUARDED_BY(guard_) = false;    ///< look() is
    bool rests_ LATCHKEY_GUARDED_BY(guard_) = false;     ///< look() follows when that may be over
    successors successors_ LATCHKEY_GUARDED_BY(guard_) = successors::unlisted;
    /// How many turns may begin, and until when, although another participant may be behind.
    std::uint32_t passes_ LATCHKEY_GUARDED_BY(guard_) = 0;
    time_point passes_end_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
