#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/mutex_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// A readers-writer lock on a path: many shared holds or one exclusive hold, in the order of
/// arrival, so that neither readers nor writers starve.
///
///     latchkey::shared_mutex m(zk, "/catalog");
///     latchkey::hold reading = m.acquire(latchkey::lock_mode::shared);
///
/// The znodes have the names of Curator's InterProcessReadWriteLock, whose readers and writers
/// contend for the same lock. A mutex on the same path does not see this lock: use another path.
///
/// - Modes: `shared` holds exist together. An `exclusive` hold exists alone. An `upgrade` hold is a
///   reader that may later become the writer. It exists together with earlier shared holds;
///   everyone who arrives later waits. When it becomes exclusive, no other participant is granted
///   in between.
/// - Guarantee: that of `hold`. Tokens of exclusive holds increase from each to the next. The token
///   of a shared hold only identifies it. A converted hold keeps its token, unless it was shared.
/// - Threads: any thread may call any member. Each acquire is a participant of its own, also within
///   one object.
/// - Lockable: meets Lockable, SharedLockable and UpgradeLockable, timed, for the guards of std and
///   Boost. Unlocking a lost lock has no effect.
/// - Lifetime: as mutex.
class shared_mutex {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// As mutex's constructor.
    shared_mutex(client& c, std::string path, mutex_options options = {});
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;
    ~shared_mutex();

    /// Waits for its turn. `shared` and `upgrade` wait until no exclusive or upgrade participant is
    /// ahead, `exclusive` until no participant is.
    ///
    /// - Cost: uncontended, 2 requests in 1 round trip. Contended, 2 round trips, then no requests
    ///   until the nearest conflicting participant ahead leaves. If that was the only conflict, its
    ///   deletion is the grant, except that an exclusive waiter behind an exclusive or upgrade one
    ///   lists once more.
    /// - Blocks, cancel, errors, afterwards: as mutex::acquire().
    [[nodiscard]] hold acquire(lock_mode m, acquire_options options = {});
    [[nodiscard]] hold acquire(lock_mode m, acquire_options options, std::error_code& ec);

    /// As mutex::try_acquire(): acquires only if no conflicting participant is ahead.
    [[nodiscard]] hold try_acquire(lock_mode m);
    [[nodiscard]] hold try_acquire(lock_mode m, std::error_code& ec);

    /// As mutex::try_acquire_for(): one time limit for everything.
    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(lock_mode m,
                                       const Duration& limit,
                                       acquire_options options = {}) {
        return acquire_within(m, to_nanoseconds(limit), std::move(options));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(lock_mode m,
                                         const TimePoint& deadline,
                                         acquire_options options = {}) {
        return acquire_within(m, time_left(deadline), std::move(options));
    }

    /// As mutex::async_acquire().
    void async_acquire(lock_mode m,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    /// Changes the mode of a hold of this lock. Returns true if the hold has the new mode. No other
    /// participant is granted in between.
    ///
    /// - exclusive to upgrade: at once, without a request.
    /// - exclusive or upgrade to shared: 1 request, 1 round trip; the readers behind are granted.
    ///   The token and lost() stay, path() changes.
    /// - upgrade to exclusive: waits for the shared holds to end. 1 request, or 2 round trips and
    ///   the wait.
    /// - shared to upgrade: never waits, because two readers that did would wait for each other.
    ///   Returns false if another participant has become, or waits to become, exclusive or upgrade
    ///   meanwhile: release the hold to let it pass. 2 round trips; a new participant, so token,
    ///   lost() and path() are new.
    /// - shared to exclusive: shared to upgrade, then upgrade to exclusive.
    ///
    /// Also returns false when `options.stop` is requested or the time is over. After false, `h` is
    /// still held, in the mode that it reached: see hold::mode(). Errors: those of acquire(),
    /// errc::hold_lost, unreachable if no server answered in time; `h` does not change then.
    bool convert(hold& h, lock_mode to, const acquire_options& options = {});

    template <duration_like Duration>
    bool try_convert_for(hold& h,
                         lock_mode to,
                         const Duration& limit,
                         const acquire_options& options = {}) {
        return convert_within(h, to, to_nanoseconds(limit), options);
    }

    /// convert() without blocking. `handler` gets the hold back; its mode() is the one that was
    /// reached.
    void async_convert(hold h,
                       lock_mode to,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    // Lockable, exclusive. The holds are kept inside. lock_*() throw what acquire() throws, and
    // errc::would_deadlock in the thread that has locked this object exclusive or upgrade
    // (try_lock_*() return false there). A thread that has locked it shared and locks it exclusive
    // waits for itself.
    void lock();
    [[nodiscard]] bool try_lock();
    void unlock() noexcept;

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_for(const Duration& limit) {
        return lock_within(lock_mode::exclusive, to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_until(const TimePoint& deadline) {
        return lock_within(lock_mode::exclusive, time_left(deadline));
    }

    // SharedLockable.
    void lock_shared();
    [[nodiscard]] bool try_lock_shared();
    void unlock_shared() noexcept;

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_shared_for(const Duration& limit) {
        return lock_within(lock_mode::shared, to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_shared_until(const TimePoint& deadline) {
        return lock_within(lock_mode::shared, time_left(deadline));
    }

    // UpgradeLockable, as Boost defines it.
    void lock_upgrade();
    [[nodiscard]] bool try_lock_upgrade();

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_upgrade_for(const Duration& limit) {
        return lock_within(lock_mode::upgrade, to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_upgrade_until(const TimePoint& deadline) {
        return lock_within(lock_mode::upgrade, time_left(deadline));
    }

    void unlock_upgrade() noexcept;
    void unlock_upgrade_and_lock();
    [[nodiscard]] bool try_unlock_upgrade_and_lock();

    template <duration_like Duration>
    [[nodiscard]] bool try_unlock_upgrade_and_lock_for(const Duration& limit) {
        return upgrade_within(to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_unlock_upgrade_and_lock_until(const TimePoint& deadline) {
        return upgrade_within(time_left(deadline));
    }

    void unlock_and_lock_upgrade();
    void unlock_and_lock_shared();
    void unlock_upgrade_and_lock_shared();
    [[nodiscard]] bool try_unlock_shared_and_lock_upgrade();
    [[nodiscard]] bool try_unlock_shared_and_lock();

    /// held(): the hold of the current lock() or lock_upgrade(). held_shared(): that of this
    /// thread's lock_shared(). Errors: errc::hold_lost if there is none.
    [[nodiscard]] hold& held();
    [[nodiscard]] hold& held_shared();

    /// All participants, in the order of the queue. Cost, errors: as mutex::participants().
    [[nodiscard]] std::vector<participant> participants();

    /// The first participant in the queue, if there is one. Cost: 2 requests, 2 round trips.
    [[nodiscard]] std::optional<participant> first();

    /// As mutex::revoke().
    bool revoke(const participant& whom);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    hold acquire_within(lock_mode m, std::chrono::nanoseconds limit, acquire_options options);
    bool convert_within(hold& h,
                        lock_mode to,
                        std::chrono::nanoseconds limit,
                        const acquire_options& options);
    bool lock_within(lock_mode m, std::chrono::nanoseconds limit);
    bool upgrade_within(std::chrono::nanoseconds limit);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
