#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/mutex_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey {

/// A mutex that the thread that has it may lock again: it is released when each lock has been
/// unlocked.
///
/// On the servers it is a mutex like any other: a latchkey::mutex and Curator's InterProcessMutex
/// contend for the same path.
///
/// - Guarantee: that of `hold`, and that no lock() or try_lock() succeeds on a hold that was lost:
///   a thread that has lost it can only unlock, and then start again.
/// - Threads: locks belong to the thread that made them, and only it may unlock them. Other threads
///   queue, FIFO.
/// - Lockable: TimedLockable for std:: and boost:: guards.
/// - Lifetime: destroying one that is locked unlocks it.
class recursive_mutex {
public:
    /// As a mutex's.
    recursive_mutex(client& c, std::string path, mutex_options options = {});
    recursive_mutex(const recursive_mutex&) = delete;
    recursive_mutex& operator=(const recursive_mutex&) = delete;
    ~recursive_mutex();

    /// Locks, or counts one more if this thread has it.
    ///
    /// - Cost: mutex::acquire()'s, again 0 requests.
    /// - Blocks: until acquired or failed; again not at all. Boost.Thread's interrupt() as in
    ///   mutex::acquire().
    /// - Errors: mutex::acquire()'s. errc::hold_lost if this thread has it and has lost it; nothing
    ///   is counted.
    void lock();

    /// False if somebody else has it, or is ahead, and also if this thread has lost it.
    [[nodiscard]] bool try_lock();

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_for(const Duration& limit) {
        return lock_within(to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_until(const TimePoint& deadline) {
        return lock_within(time_left(deadline));
    }

    /// Takes one lock back; the last one releases, also what was lost. Errors: std::errc's
    /// operation_not_permitted if this thread has not locked it; nothing changes. In a forked child
    /// it does nothing.
    void unlock();

    /// How often this thread has it locked.
    [[nodiscard]] std::size_t depth() const;

    /// This thread's hold: its token, validity and transactions. Errors: errc::hold_lost if it has
    /// none. The reference ends with the last unlock().
    [[nodiscard]] hold& held();

    /// As mutex's.
    [[nodiscard]] std::vector<participant> participants();
    [[nodiscard]] std::optional<participant> holder();
    bool revoke(const participant& whom);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    bool lock_within(std::chrono::nanoseconds limit);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
