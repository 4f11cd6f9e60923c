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

/// A readers-writer lock on a path: many that share, or one that is exclusive, in the order of
/// arrival, so that neither starves.
///
/// The znodes bear the names of Curator's InterProcessReadWriteLock, so its readers and writers
/// contend for the same lock. A mutex on the same path does not see it: use another path.
///
/// - Modes: `shared` beside others that share. `exclusive` alone. `upgrade` beside the shared ones
///   that came before, ahead of everybody who comes later: it reads, and may become exclusive
///   without letting anybody between.
/// - Guarantee: that of `hold`. Exclusive holds have increasing fencing tokens; the token of a
///   shared hold says who it is, and orders nothing. A hold that is converted keeps its token,
///   unless it was shared.
/// - Threads: all members from any thread. Each acquire is a participant of its own, also within
///   one object.
/// - Lockable: Lockable, SharedLockable and UpgradeLockable, timed, for the guards of std and
///   Boost. Unlocking what was lost is a no-op.
/// - Lifetime: as a mutex's.
class shared_mutex {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// As a mutex's.
    shared_mutex(client& c, std::string path, mutex_options options = {});
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;
    ~shared_mutex();

    /// Waits for its turn: shared and upgrade until no exclusive (or upgrade) participant is ahead,
    /// exclusive until nobody is.
    ///
    /// - Cost: uncontended 2 requests in 1 round trip. Contended 2 round trips, then nothing until
    ///   the one waited for goes: the nearest ahead that conflicts. When it was the only one, its
    ///   going is the grant, unless one that is exclusive waited for another such one: one list
    ///   more.
    /// - Blocks, cancellation, errors, afterwards: as mutex::acquire().
    [[nodiscard]] hold acquire(lock_mode m, acquire_options options = {});
    [[nodiscard]] hold acquire(lock_mode m, acquire_options options, std::error_code& ec);

    /// As mutex::try_acquire(): only if nobody ahead conflicts.
    [[nodiscard]] hold try_acquire(lock_mode m);
    [[nodiscard]] hold try_acquire(lock_mode m, std::error_code& ec);

    /// As mutex::try_acquire_for() and until.
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

    /// Changes the mode of a hold of this lock; true if it has the new one. Nobody else is granted
    /// in between.
    ///
    /// - exclusive to upgrade: at once, no request.
    /// - exclusive or upgrade to shared: 1 request, 1 round trip; the readers behind are granted.
    ///   The token and lost() stay, path() is another one.
    /// - upgrade to exclusive: waits for the shared holds to end; nobody comes in between. 1
    ///   request, or 2 round trips and what there is to wait for.
    /// - shared to upgrade: never waits, because two that did would wait for each other: false when
    ///   somebody else who is exclusive or wants to be has come meanwhile. Release then, to let it
    ///   pass. 2 round trips; another participant: token, lost() and path() are new.
    /// - shared to exclusive: the last two, in that order.
    ///
    /// False, with the mode that was reached and the hold as it was, also when `options.stop` is
    /// requested, or the time is over. Errors: errc::hold_lost, and what acquire() ends with; `h`
    /// is left as it is.
    bool convert(hold& h, lock_mode to, const acquire_options& options = {});

    template <duration_like Duration>
    bool try_convert_for(hold& h,
                         lock_mode to,
                         const Duration& limit,
                         const acquire_options& options = {}) {
        return convert_within(h, to, to_nanoseconds(limit), options);
    }

    /// The same without blocking: `handler` gets the hold back; its mode() tells what was reached.
    void async_convert(hold h,
                       lock_mode to,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    // Lockable: exclusive. lock_*() throw what acquire() throws, and errc::would_deadlock in the
    // thread that has it exclusive or to upgrade (try_lock_*() are false there); one that has it
    // shared and locks it exclusive waits for itself. The holds are kept inside.
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

    /// The hold of the present lock() or lock_upgrade(); of this thread's lock_shared(). Errors:
    /// errc::hold_lost if there is none.
    [[nodiscard]] hold& held();
    [[nodiscard]] hold& held_shared();

    /// Who is in the queue, in order. Cost: 1 request, then one a participant, 64 at a time: 2
    /// round trips, and one more for each 64.
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
