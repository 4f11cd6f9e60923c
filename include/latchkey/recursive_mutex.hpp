#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// A mutex that its owning thread may lock again. It is released when that thread has unlocked it
/// as often as it has locked it.
///
///     latchkey::recursive_mutex m(zk, "/accounts/4711");
///     const std::scoped_lock lock(m);   // a function called from here may lock m again
///
/// On the servers it is a mutex: a latchkey::mutex and Curator's InterProcessMutex contend for the
/// same path.
///
/// - Guarantee: that of `hold`. In addition, no lock() or try_lock() succeeds on a hold that was
///   lost: the thread must first unlock as often as it has locked, then lock again.
/// - Threads: a lock belongs to the thread that made it, and only that thread may unlock it. Other
///   threads queue inside the process, first come, first served.
/// - Lockable: meets TimedLockable, for the guards of std and boost.
/// - Lifetime: destroying a recursive_mutex that is locked unlocks it.
class LATCHKEY_EXPORT recursive_mutex {
public:
    /// As mutex's constructor.
    recursive_mutex(const client& c, std::string path, lock_options options = {});
    recursive_mutex(const recursive_mutex&) = delete;
    recursive_mutex& operator=(const recursive_mutex&) = delete;
    ~recursive_mutex();

    /// Locks. If this thread has the lock already, counts one more.
    ///
    /// - Cost: that of mutex::acquire(); none if this thread has the lock already.
    /// - Blocks: until acquired or failed; not at all if this thread has the lock already.
    ///   Boost.Thread's interrupt() works as in mutex::acquire().
    /// - Errors: those of mutex::acquire(), and errc::hold_lost if this thread has locked the mutex
    ///   and the hold was lost. The count stays the same then.
    void lock(std::error_code& ec = throws()) { static_cast<void>(lock_within(no_timeout, ec)); }

    /// Returns false if another participant holds the lock or is ahead, and if this thread has lost
    /// the lock. The timed forms do the same with a timeout.
    [[nodiscard]] bool try_lock(std::error_code& ec = throws()) {
        return lock_within(std::chrono::nanoseconds::zero(), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_for(const Duration& timeout, std::error_code& ec = throws()) {
        return lock_within(to_nanoseconds(timeout), ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_until(const TimePoint& deadline, std::error_code& ec = throws()) {
        return lock_within(time_left(deadline), ec);
    }

    /// Undoes one lock. The last unlock releases the hold, even a lost one. Errors:
    /// std::errc::operation_not_permitted if this thread has not locked the mutex; nothing changes
    /// then. In a forked child it does nothing.
    void unlock();

    /// How often this thread has locked the mutex.
    [[nodiscard]] std::size_t depth() const;

    /// This thread's hold: its validity, token and transactions. The reference is valid until the
    /// last unlock(). Errors: errc::hold_lost if this thread has not locked the mutex.
    [[nodiscard]] hold& held();

    /// As the members of mutex.
    [[nodiscard]] std::vector<participant> participants(std::error_code& ec = throws());
    [[nodiscard]] std::optional<participant> holder(std::error_code& ec = throws());
    bool revoke(const participant& whom, std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class LATCHKEY_HIDDEN impl;

    bool lock_within(std::chrono::nanoseconds timeout, std::error_code& ec);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
