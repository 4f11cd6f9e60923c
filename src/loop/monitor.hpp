#pragma once

#include <latchkey/export.hpp>

#include <chrono>
#include <memory>
#include <mutex>

#if defined(__clang__)
#define LATCHKEY_CAPABILITY __attribute__((capability("mutex")))
#define LATCHKEY_GUARDED_BY(x) __attribute__((guarded_by(x)))
#define LATCHKEY_REQUIRES(x) __attribute__((requires_capability(x)))
#define LATCHKEY_ACQUIRE(x) __attribute__((acquire_capability(x)))
#define LATCHKEY_RELEASE() __attribute__((release_capability()))
#define LATCHKEY_SCOPED __attribute__((scoped_lockable))
#else
#define LATCHKEY_CAPABILITY
#define LATCHKEY_GUARDED_BY(x)
#define LATCHKEY_REQUIRES(x)
#define LATCHKEY_ACQUIRE(x)
#define LATCHKEY_RELEASE()
#define LATCHKEY_SCOPED
#endif

namespace latchkey::inline v0 {

/// The time at which `limit` is over: at once if it is negative, never if it is beyond the range of
/// the clock.
[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_after(
    std::chrono::nanoseconds limit) {
    const auto now = std::chrono::steady_clock::now();
    if (limit > std::chrono::steady_clock::time_point::max() - now) {
        return std::chrono::steady_clock::time_point::max();
    }
    return limit.count() > 0 ? now + limit : now;
}

/// A lock between the threads of this process, known to Clang's thread-safety analysis.
class LATCHKEY_CAPABILITY thread_mutex {
    friend class monitor_lock;

    std::mutex mutex_;
};

/// A condition of Boost.Thread, whose waits are interruption points. Its headers stay in the
/// source.
class LATCHKEY_EXPORT_FOR_TESTING thread_condition {
public:
    thread_condition();
    thread_condition(const thread_condition&) = delete;
    thread_condition& operator=(const thread_condition&) = delete;
    ~thread_condition();

    void notify_one() noexcept;
    void notify_all() noexcept;

private:
    friend class monitor_lock;

    void wait(std::unique_lock<std::mutex>& lock);
    bool wait_until(std::unique_lock<std::mutex>& lock,
                    std::chrono::steady_clock::time_point deadline);

    struct impl;
    const std::unique_ptr<impl> impl_;
};

/// Locks a thread_mutex for a scope in which the caller can wait for conditions.
class LATCHKEY_SCOPED monitor_lock {
public:
    explicit monitor_lock(thread_mutex& m) LATCHKEY_ACQUIRE(m) : lock_(m.mutex_) {}

    monitor_lock(const monitor_lock&) = delete;
    monitor_lock& operator=(const monitor_lock&) = delete;

    ~monitor_lock() LATCHKEY_RELEASE() {}  // NOLINT: the analysis needs a body

    void wait(thread_condition& changed) { changed.wait(lock_); }

    /// Returns false when the time is over.
    bool wait_until(thread_condition& changed, std::chrono::steady_clock::time_point deadline) {
        return changed.wait_until(lock_, deadline);
    }

private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace latchkey::inline v0
