#pragma once

#include <latchkey/acquire_forms.hpp>
#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

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
/// - acquire(mode): `shared` and `upgrade` wait until no exclusive or upgrade participant is ahead,
///   `exclusive` until no participant is. try_acquire(mode) acquires only if no conflicting
///   participant is ahead.
/// - Cost of an acquire, uncontended: 2 requests in 1 round trip. Contended, 2 round trips, then no
///   requests until the nearest conflicting participant ahead leaves. If that was the only
///   conflict, its deletion is the grant, except that an exclusive waiter behind an exclusive or
///   upgrade one lists once more.
/// - Threads: any thread may call any member. Each acquire is a participant of its own. With
///   lock_options::local_passes or retain_for, exclusive holds of one object may use one znode.
/// - Lockable: meets Lockable, SharedLockable and UpgradeLockable, timed, for the guards of std and
///   Boost. As with mutex: what a thread does with a lost lock concerns no other thread's lock.
/// - Lifetime: as mutex.
class LATCHKEY_EXPORT shared_mutex : public acquire_forms<shared_mutex, lock_mode>,
                                     public lock_forms<shared_mutex> {
public:
    /// As mutex's constructor.
    shared_mutex(const client& c, std::string path, lock_options options = {});
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;
    ~shared_mutex();

    /// Changes the mode of a hold of this lock. Returns true if the hold has the new mode. No other
    /// participant is granted in between.
    ///
    /// - exclusive to upgrade: at once, without a request.
    /// - exclusive or upgrade to shared: 1 request, 1 round trip; the readers behind are granted.
    ///   The token and lost() stay, path() changes. Once it was sent, its answer ends the call.
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
    [[nodiscard]] bool convert(hold& h,
                               lock_mode to,
                               acquire_options options = {},
                               std::error_code& ec = throws()) {
        return convert_within(h, to, no_timeout, std::move(options), ec);
    }

    [[nodiscard]] bool convert(hold& h, lock_mode to, std::error_code& ec) {
        return convert_within(h, to, no_timeout, {}, ec);
    }

    template <duration_like Duration>
    [[nodiscard]] bool try_convert_for(hold& h,
                                       lock_mode to,
                                       const Duration& timeout,
                                       acquire_options options = {},
                                       std::error_code& ec = throws()) {
        return convert_within(h, to, to_nanoseconds(timeout), std::move(options), ec);
    }

    /// convert() without blocking. `handler` gets the hold back; its mode() is the one that was
    /// reached.
    void async_convert(hold h, lock_mode to, acquire_options options, acquire_handler handler) {
        start_convert(std::move(h), to, no_timeout, std::move(options), std::move(handler));
    }

    template <duration_like Duration>
    void async_convert(hold h,
                       lock_mode to,
                       const Duration& timeout,
                       acquire_options options,
                       acquire_handler handler) {
        start_convert(
            std::move(h), to, to_nanoseconds(timeout), std::move(options), std::move(handler));
    }

    /// convert() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<hold> convert_async(hold h, lock_mode to, acquire_options options = {});

    // Lockable, exclusive. The holds are kept inside. lock_*() throw what acquire() throws, and
    // errc::would_deadlock in the thread that has locked this object exclusive or upgrade
    // (try_lock_*() return false there). A thread that has locked it shared and locks it exclusive
    // waits for itself.
    void unlock() noexcept;

    // SharedLockable.
    void lock_shared();
    [[nodiscard]] bool try_lock_shared();
    void unlock_shared() noexcept;

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_shared_for(const Duration& timeout) {
        return lock_within(lock_mode::shared, to_nanoseconds(timeout));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_shared_until(const TimePoint& deadline) {
        return lock_within(lock_mode::shared, time_left(deadline));
    }

    // UpgradeLockable, as Boost defines it.
    void lock_upgrade();
    [[nodiscard]] bool try_lock_upgrade();

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_upgrade_for(const Duration& timeout) {
        return lock_within(lock_mode::upgrade, to_nanoseconds(timeout));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_upgrade_until(const TimePoint& deadline) {
        return lock_within(lock_mode::upgrade, time_left(deadline));
    }

    void unlock_upgrade() noexcept;
    void unlock_upgrade_and_lock();
    [[nodiscard]] bool try_unlock_upgrade_and_lock();

    template <duration_like Duration>
    [[nodiscard]] bool try_unlock_upgrade_and_lock_for(const Duration& timeout) {
        return upgrade_within(to_nanoseconds(timeout));
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

    /// held(): as mutex::held(), also of lock_upgrade(). held_shared(): the hold of this thread's
    /// lock_shared(). Errors: errc::hold_lost if there is none.
    [[nodiscard]] hold& held();
    [[nodiscard]] hold& held_shared();

    /// All participants, in the order of the queue. Cost, errors: as mutex::participants().
    [[nodiscard]] std::vector<participant> participants(std::error_code& ec = throws());

    /// The first participant in the queue, if there is one. Cost: 2 requests, 2 round trips.
    [[nodiscard]] std::optional<participant> first(std::error_code& ec = throws());

    /// As mutex::revoke().
    bool revoke(const participant& whom, std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    friend acquire_forms<shared_mutex, lock_mode>;
    friend lock_forms<shared_mutex>;
    class LATCHKEY_HIDDEN impl;

    hold acquire_within(lock_mode m,
                        std::chrono::nanoseconds timeout,
                        acquire_options options,
                        std::error_code& ec);
    awaitable<hold> await_acquire(lock_mode m,
                                  std::chrono::nanoseconds timeout,
                                  acquire_options options);
    void start_acquire(lock_mode m,
                       std::chrono::nanoseconds timeout,
                       acquire_options options,
                       acquire_handler handler);
    bool convert_within(hold& h,
                        lock_mode to,
                        std::chrono::nanoseconds timeout,
                        acquire_options options,
                        std::error_code& ec);
    void start_convert(hold h,
                       lock_mode to,
                       std::chrono::nanoseconds timeout,
                       acquire_options options,
                       acquire_handler handler);
    bool lock_within(std::chrono::nanoseconds timeout);
    bool lock_within(lock_mode m, std::chrono::nanoseconds timeout);
    bool upgrade_within(std::chrono::nanoseconds timeout);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
