#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/mutex_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// An exclusive lock on a path: at most one holder among all processes, in the order of arrival.
///
/// The path is a directory (a container znode, made when needed); each participant is an ephemeral
/// sequential znode in it with Curator's names, so Curator's InterProcessMutex and LeaderSelector
/// and go-zookeeper's Lock contend for the same lock, and kazoo's Lock if it is told to
/// (docs/interoperation.md).
///
/// - Guarantee: that of `hold`. FIFO among participants; an acquire that outlives a loss of the
///   session goes to the tail.
/// - Threads: all members from any thread. One object is one participant: threads that share it
///   queue inside the process, FIFO. Not re-entrant: lock() and try_lock() notice their own thread;
///   acquire() never guesses, because a hold may have moved to another thread, and waits for itself
///   if you let it.
/// - Lockable: TimedLockable for std:: and boost:: guards alike. unlock() of a lost lock is a
///   no-op, never an exception.
/// - Lifetime: holds outlive the mutex. Destroying a mutex that is locked through lock() unlocks
///   it.
///
///     latchkey::client zk = latchkey::client::connect("zk1,zk2,zk3/app");
///     latchkey::mutex m(zk, "/jobs/nightly");
///     if (latchkey::hold h = m.try_acquire_for(30s)) {
///         write_report(h.fencing_token());                // the store refuses older tokens
///         h.transact({latchkey::operation::set("/jobs/last", today)});  // commits only while held
///     }
class mutex {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// No request is sent. Errors: errc::invalid_argument names the path (ZooKeeper's rules, and no
    /// "." or "..", no control characters, UTF-8, at most 1024 bytes) or the data.
    mutex(client& c, std::string path, mutex_options options = {});
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex();

    /// Waits until this participant is the first in the queue.
    ///
    /// - Cost: uncontended 2 requests in 1 round trip, also at the first use of a path (one request
    ///   more a missing level), and one read that nobody waits for and a short hold never sends.
    ///   Contended 2 round trips, 4 requests, then nothing until the predecessor goes; one more
    ///   round trip if it was not the holder. A reconnect: 2 reads while it waits. Participants of
    ///   one client that join one queue together share their lists; for each of them that can take
    ///   one more round trip.
    /// - Blocks: until acquired, cancelled or failed; waits through `suspended`, and joins anew at
    ///   the tail after `lost`.
    /// - Cancel: options.stop, an empty hold. Boost.Thread's interrupt(),
    ///   boost::thread_interrupted.
    /// - Errors: errc::not_authorized, closed, authentication_failed, sequence_exhausted,
    ///   malformed_participant, quota_exceeded, ephemeral_parent, forked, would_deadlock (in a
    ///   callback). Contention is not an error.
    /// - Afterwards: on any outcome but a hold the participant's znode is gone, or is being deleted
    ///   until it is.
    [[nodiscard]] hold acquire(acquire_options options = {});
    [[nodiscard]] hold acquire(acquire_options options, std::error_code& ec);

    /// Acquires if nobody is ahead, else returns an empty hold. Reads first: on a held lock 1
    /// request, 0 writes. The server asked may be a moment behind and still show a holder that has
    /// left. Errors as acquire(), and errc::unreachable if no server answers within the session
    /// timeout.
    [[nodiscard]] hold try_acquire();
    [[nodiscard]] hold try_acquire(std::error_code& ec);

    /// acquire() with one total deadline that covers connecting, retries and waiting alike: an
    /// empty hold when it passes. Zero or less is try_acquire(); durations beyond what the clock
    /// can count wait for ever.
    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(const Duration& limit, acquire_options options = {}) {
        return acquire_within(to_nanoseconds(limit), std::move(options));
    }

    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(const Duration& limit,
                                       acquire_options options,
                                       std::error_code& ec) {
        return acquire_within(to_nanoseconds(limit), std::move(options), ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(const TimePoint& deadline, acquire_options options = {}) {
        return acquire_within(time_left(deadline), std::move(options));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(const TimePoint& deadline,
                                         acquire_options options,
                                         std::error_code& ec) {
        return acquire_within(time_left(deadline), std::move(options), ec);
    }

    /// acquire() without blocking. `handler` is called exactly once, on the client's callback
    /// thread: with a hold; with an empty one when cancelled or `limit` has passed; or with an
    /// error.
    void async_acquire(acquire_options options, acquire_handler handler);
    void async_acquire(std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    /// TimedLockable. lock() throws what acquire() throws, and errc::would_deadlock if this thread
    /// has it locked already (try_lock() is false then). The hold is kept inside: see held().
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

    /// The hold of the present lock(): its token, validity and transactions. Errors:
    /// errc::hold_lost if it is not locked through lock(). The reference ends with unlock().
    [[nodiscard]] hold& held();

    /// Who is in the queue, in order; the first one holds the lock. Cost: 1 request, then one a
    /// participant, 2 round trips. A path that does not exist has no participants. Errors:
    /// not_authorized, unreachable (within the session timeout), closed, ...
    [[nodiscard]] std::vector<participant> participants();

    /// The first participant, if there is one. Cost: 2 requests, 2 round trips.
    [[nodiscard]] std::optional<participant> holder();

    /// Asks a participant, holder or not, to give up its place, as Curator's Revoker does: in the
    /// place of its znode's data, which tells nothing else then. Whether it does is up to it
    /// (hold::revocation_requested(), Curator's RevocationListener). False if it has left. Cost: 1
    /// request, 1 round trip. Errors: as participants(); invalid_argument for a participant that
    /// is none here.
    bool revoke(const participant& whom);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    hold acquire_within(std::chrono::nanoseconds limit, acquire_options options);
    hold acquire_within(std::chrono::nanoseconds limit,
                        acquire_options options,
                        std::error_code& ec);
    bool lock_within(std::chrono::nanoseconds limit);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
