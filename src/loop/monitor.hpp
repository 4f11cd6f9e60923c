#pragma once

#include <chrono>

#include <boost/chrono/system_clocks.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_guard.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>

#if defined(__clang__)
#define LATCHKEY_GUARDED_BY(x) __attribute__((guarded_by(x)))
#define LATCHKEY_REQUIRES(x) __attribute__((requires_capability(x)))
#define LATCHKEY_ACQUIRE(x) __attribute__((acquire_capability(x)))
#define LATCHKEY_RELEASE() __attribute__((release_capability()))
#define LATCHKEY_SCOPED __attribute__((scoped_lockable))
#else
#define LATCHKEY_GUARDED_BY(x)
#define LATCHKEY_REQUIRES(x)
#define LATCHKEY_ACQUIRE(x)
#define LATCHKEY_RELEASE()
#define LATCHKEY_SCOPED
#endif

namespace latchkey::inline v0 {

/// The time at which `limit` is over: at once if it is negative, never if it is beyond the range of
/// the clock.
[[nodiscard]] inline boost::chrono::steady_clock::time_point deadline_after(
    std::chrono::nanoseconds limit) {
    const auto now = boost::chrono::steady_clock::now();
    const auto last = boost::chrono::steady_clock::time_point::max();
    const boost::chrono::nanoseconds wanted(limit.count());
    if (wanted > last - now) {
        return last;
    }
    // Boost does not accept a time before the beginning of its clock.
    return wanted.count() > 0 ? now + wanted : now;
}

/// Locks a boost::mutex for a scope in which the caller can wait for conditions, and makes that
/// visible to Clang's thread-safety analysis (boost::unique_lock has no annotations). A wait is an
/// interruption point of Boost.Thread.
class LATCHKEY_SCOPED monitor_lock {
public:
    explicit monitor_lock(boost::mutex& m) LATCHKEY_ACQUIRE(m) : lock_(m) {}

    monitor_lock(const monitor_lock&) = delete;
    monitor_lock& operator=(const monitor_lock&) = delete;

    ~monitor_lock() LATCHKEY_RELEASE() {}  // NOLINT: the analysis needs a body

    void wait(boost::condition_variable& changed) { changed.wait(lock_); }

    /// Returns false when the time is over.
    bool wait_until(boost::condition_variable& changed,
                    const boost::chrono::steady_clock::time_point& deadline) {
        return changed.wait_until(lock_, deadline) == boost::cv_status::no_timeout;
    }

private:
    boost::unique_lock<boost::mutex> lock_;
};

}  // namespace latchkey::inline v0
