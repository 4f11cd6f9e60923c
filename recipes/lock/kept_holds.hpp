#pragma once

#include <latchkey/hold.hpp>

#include "hold/hold_state.hpp"
#include "loop/monitor.hpp"
#include "text/path.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// The number of this thread. Unlike a std::thread::id, it is never that of a later thread.
[[nodiscard]] inline std::uint64_t thread_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local const std::uint64_t own = ++last;
    return own;
}

/// The holds that lock() and the like keep inside of a recipe, each for the thread that locked.
/// Several threads may have an exclusive one: the next thread may be granted before a thread that
/// has lost its lock unlocks it. A hold keeps its address, also while it is taken out and put back.
/// Any thread.
///
/// A hold that was released through held(), or moved out, stays as an empty one: its thread has
/// still to unlock, and that must end no other lock.
///
/// A guard may move to another thread. So a thread that has locked nothing here finds the hold of
/// another thread: if it can, one that was lost, because releasing that takes a lock from no
/// thread.
class kept_holds {
public:
    using kept = std::multimap<std::uint64_t, hold>::node_type;

    /// Whether this thread has a hold here, and so would wait for itself. Throws
    /// errc::would_deadlock if it would do so forever.
    [[nodiscard]] bool would_deadlock(std::chrono::nanoseconds limit,
                                      const std::string& path,
                                      const char* remedy) {
        const bool locked = of_this_thread() != nullptr;
        if (locked && limit == no_timeout) {
            throw error(errc::would_deadlock,
                        "this thread holds \"" + escaped(path) + "\" already: " + remedy);
        }
        return locked;
    }

    /// For this thread, unless `h` is empty; returns whether it is not.
    bool keep(hold h) {
        if (is_empty(h)) {
            return false;
        }
        const monitor_lock lock(guard_);
        if (holds_.count(thread_number()) >= most_of_a_thread) {
            const auto own = find_own();
            if (own != holds_.end() && is_empty(own->second)) {
                holds_.erase(own);  // this thread does not unlock
            }
        }
        holds_.emplace(thread_number(), std::move(h));
        return true;
    }

    /// Puts a hold that was taken out here, or from other kept_holds, in for this thread.
    void put(kept k) {
        k.key() = thread_number();
        const monitor_lock lock(guard_);
        holds_.insert(std::move(k));
    }

    /// Takes a hold out; an empty node if there is none.
    [[nodiscard]] kept take() {
        const monitor_lock lock(guard_);
        const auto found = find();
        return found == holds_.end() ? kept() : holds_.extract(found);
    }

    /// The hold that take() would take out. Throws errc::hold_lost if there is none, or an empty
    /// one.
    [[nodiscard]] hold& look(const std::string& path) {
        const monitor_lock lock(guard_);
        const auto found = find();
        if (found == holds_.end() || is_empty(found->second)) {
            throw error(errc::hold_lost,
                        '"' + escaped(path) + "\" is not locked through this object");
        }
        return found->second;
    }

    /// A hold of this thread; null if it has none.
    [[nodiscard]] hold* of_this_thread() {
        const monitor_lock lock(guard_);
        const auto found = find_own();
        return found == holds_.end() || is_empty(found->second) ? nullptr : &found->second;
    }

private:
    using holds = std::multimap<std::uint64_t, hold>;

    /// Who has so many empty ones locks without unlocking.
    static constexpr std::size_t most_of_a_thread = 1'000;

    /// One that was lost, or else a valid one, or else an empty one.
    [[nodiscard]] holds::iterator choose(holds::iterator from, holds::iterator to)
        LATCHKEY_REQUIRES(guard_) {
        auto chosen = holds_.end();
        for (auto one = from; one != to; ++one) {
            if (!is_empty(one->second) && !one->second.valid()) {
                return one;
            }
            if (chosen == holds_.end() || is_empty(chosen->second)) {
                chosen = one;
            }
        }
        return chosen;
    }

    [[nodiscard]] holds::iterator find_own() LATCHKEY_REQUIRES(guard_) {
        const auto [from, to] = holds_.equal_range(thread_number());
        return choose(from, to);
    }

    [[nodiscard]] holds::iterator find() LATCHKEY_REQUIRES(guard_) {
        const auto own = find_own();
        return own != holds_.end() ? own : choose(holds_.begin(), holds_.end());
    }

    thread_mutex guard_;
    holds holds_ LATCHKEY_GUARDED_BY(guard_);
};

}  // namespace latchkey::inline v0
