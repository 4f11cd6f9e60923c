#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/mutex_options.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// Several mutexes as one: all of them or none, without the deadlocks of taking them one by one.
///
/// One transaction queues in every path's directory, as a mutex on that path does, so all
/// directories see two multi_mutexes in the same order and neither can wait for the other. What
/// the servers do not do in one transaction is not done path by path instead:
/// errc::unsupported.
///
/// - Guarantee: that of `hold`, for every path. One fencing token for all of them, because they
///   were queued for at once: it is above those of earlier holders of each path, and below those
///   of later ones. It is the czxid of the znodes, or of something that happened between their
///   creation and that of any later holder's.
/// - Beside single locks: participants of latchkey::mutex and Curator's InterProcessMutex take
///   their turns with it on each path. A program that holds one path and waits for another one
///   can deadlock with a multi_mutex of both, as with anybody who takes them in another order: it
///   waits behind the multi_mutex, which waits for it. Who takes several of these paths one by one
///   must try and back off, as std::lock() and boost::lock() do, or take them with a multi_mutex.
/// - Waiting: the place is kept in every directory; those behind it wait also where it is the
///   first already. Take few paths, and hold them shortly.
/// - Loss: as for one znode. When somebody deletes one of them, all are lost; they go with the
///   release. A waiter that loses one joins anew at all tails.
/// - Who is there, and revoke(): of each path, through a mutex on it. To be asked for one path is
///   to be asked for all (hold::revocation_requested()), because none is given up alone.
/// - Threads, Lockable, lifetime: as mutex.
///
///     latchkey::multi_mutex both(zk, {"/accounts/4711", "/accounts/42"});
///     const std::scoped_lock lock(both);
class multi_mutex {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// The paths in any order; one that is named twice counts once. No request is sent. Errors:
    /// errc::invalid_argument for no path, a path that mutex refuses, one that lies below another
    /// one, and more than fit into one request (at least 500 of the longest).
    multi_mutex(client& c, std::vector<std::string> paths, mutex_options options = {});
    multi_mutex(const multi_mutex&) = delete;
    multi_mutex& operator=(const multi_mutex&) = delete;
    ~multi_mutex();

    /// Waits until this participant is the first in the queue of every path.
    ///
    /// - Cost, for n paths: uncontended 1 multi, 1 read and n lists in 1 round trip, also at the
    ///   first use (one request more for each level of each path); one more round trip for the
    ///   token if somebody joined one of the queues meanwhile. Contended 2 round trips, then
    ///   nothing until the predecessors go. Release: 1 request that nobody waits for, whose
    ///   effect those behind see everywhere at once.
    /// - options.reserved: told once for each path.
    /// - Blocks, cancel, errors, afterwards: as mutex::acquire(), for all paths.
    [[nodiscard]] hold acquire(acquire_options options = {});
    [[nodiscard]] hold acquire(acquire_options options, std::error_code& ec);

    /// As mutex::try_acquire(): only if nobody is ahead on any path. On a held one 1 round trip of
    /// n lists, 0 writes.
    [[nodiscard]] hold try_acquire();
    [[nodiscard]] hold try_acquire(std::error_code& ec);

    /// As mutex::try_acquire_for() and until: one total deadline.
    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(const Duration& limit, acquire_options options = {}) {
        return acquire_within(to_nanoseconds(limit), std::move(options));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(const TimePoint& deadline, acquire_options options = {}) {
        return acquire_within(time_left(deadline), std::move(options));
    }

    /// As mutex::async_acquire().
    void async_acquire(acquire_options options, acquire_handler handler);
    void async_acquire(std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    /// TimedLockable, as mutex: the hold is kept inside.
    void lock();
    [[nodiscard]] bool try_lock();

    template <duration_like Duration>
    [[nodiscard]] bool try_lock_for(const Duration& limit) {
        return lock_within(to_nanoseconds(limit));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool try_lock_until(const TimePoint& deadline) {
        return lock_within(time_left(deadline));
    }

    void unlock() noexcept;

    /// As mutex::held().
    [[nodiscard]] hold& held();

    /// Sorted, each once. hold::paths() has the znodes in this order.
    [[nodiscard]] const std::vector<std::string>& paths() const noexcept;

private:
    class impl;

    hold acquire_within(std::chrono::nanoseconds limit, acquire_options options);
    bool lock_within(std::chrono::nanoseconds limit);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
