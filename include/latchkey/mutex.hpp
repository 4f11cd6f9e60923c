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
///     latchkey::client zk = latchkey::client::connect("zk1,zk2,zk3/app");
///     latchkey::mutex m(zk, "/jobs/nightly");
///     if (latchkey::hold h = m.try_acquire_for(30s)) {
///         write_report(h.fencing_token());                // the store refuses older tokens
///         h.transact({latchkey::operation::set("/jobs/last", today)});  // commits only while held
///     }
///
/// - Guarantee: that of `hold`. Participants are granted first come, first served. An acquire()
///   that continues after its session was lost joins again at the tail of the queue.
/// - Threads: any thread may call any member. One object is one participant: threads that share it
///   queue inside the process, first come, first served. The next thread proceeds when the hold of
///   the previous one has been released, even if that hold was lost.
/// - Not recursive: lock() and try_lock() detect a second lock by the same thread. acquire()
///   cannot, because a hold may move between threads: a thread that acquires twice waits for
///   itself.
/// - Lockable: meets TimedLockable, for the guards of std and boost. unlock() of a lost lock has no
///   effect and never throws; held() says whether the lock is still valid.
/// - Lifetime: holds outlive the mutex. Destroying a mutex that is locked through lock() unlocks
///   it.
/// - Znodes: the path is a directory, a container znode that is created when needed. Each
///   participant is an ephemeral sequential znode in it, with Curator's names. Curator's
///   InterProcessMutex and LeaderSelector and go-zookeeper's Lock contend for the same lock.
///   kazoo's Lock can be configured to do so (docs/interoperation.md).
class mutex {
public:
    /// Receives an error, or a hold. No error and an empty hold: canceled, or not acquired in time.
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// Sends no request. Errors: errc::invalid_argument names the path or the data at fault. A path
    /// follows ZooKeeper's rules. It is UTF-8 of at most 1024 bytes without control characters, has
    /// no "." or ".." component, and is not below /zookeeper.
    mutex(client& c, std::string path, mutex_options options = {});
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex();

    /// Waits until this participant is the first in the queue.
    ///
    /// - Blocks: until the lock is acquired, the call is canceled, or it fails. Continues to wait
    ///   while the client is `suspended`. After `lost` it joins again at the tail.
    /// - Cancel: a stop request on options.stop makes it return an empty hold. Boost.Thread's
    ///   interrupt() makes it throw boost::thread_interrupted.
    /// - Errors: errc::not_authorized, closed, authentication_failed, sequence_exhausted,
    ///   malformed_participant, quota_exceeded, ephemeral_parent, forked, would_deadlock (in a
    ///   callback). Contention is not an error.
    /// - Afterwards: if no hold is returned, the participant's znode is gone, or the client repeats
    ///   its delete until it is.
    /// - Cost, uncontended: 2 requests in 1 round trip, plus one request for each level of the path
    ///   that is not known to exist. A hold that lasts longer than 10 ms sends one more read, which
    ///   no call waits for.
    /// - Cost, contended: 4 requests in 2 round trips, then no requests until the predecessor
    ///   leaves. If others were ahead of the predecessor, one or two more round trips follow. Each
    ///   reconnect while it waits: 2 reads.
    /// - Participants of one client that join a queue together share their lists, which may take
    ///   each of them one more round trip.
    [[nodiscard]] hold acquire(acquire_options options = {});
    [[nodiscard]] hold acquire(acquire_options options, std::error_code& ec);

    /// Acquires the lock if no other participant is ahead and no other thread uses this object to
    /// hold or wait; otherwise returns an empty hold. Cost: it lists first, so on a held lock it
    /// sends 1 request and writes nothing; on a free one, 2 round trips. The server that answers
    /// may be a moment behind and still show a holder that has left. Errors: as acquire(), and
    /// errc::unreachable if no server answers within the session timeout. If another call of this
    /// object waits for its first answer, this call waits for the same answer.
    [[nodiscard]] hold try_acquire();
    [[nodiscard]] hold try_acquire(std::error_code& ec);

    /// acquire() with one time limit for connecting, retrying and waiting. Returns an empty hold
    /// when the time is over and the servers have confirmed that this participant is in the queue.
    /// If no server was reached, or none has confirmed that, in this time: errc::unreachable. For a
    /// call that waits for another call of this object, the confirmation of the other one counts.
    /// The call may take up to a second more, to prove that its znode is gone. A limit of zero or
    /// less means try_acquire(). A limit beyond the clock's range means forever.
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
    /// thread.
    void async_acquire(acquire_options options, acquire_handler handler);
    void async_acquire(std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    /// TimedLockable. The hold is kept inside this object: see held(). lock() throws what acquire()
    /// throws. If this thread has already locked this object, lock() throws errc::would_deadlock
    /// and try_lock() returns false.
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

    /// The hold of the current lock(): its validity, token and transactions. The reference is valid
    /// until unlock(). Errors: errc::hold_lost if this object is not locked through lock().
    [[nodiscard]] hold& held();

    /// All participants in the order of the queue; the first one holds the lock. Empty if the path
    /// does not exist. Cost: 1 request, then one for each participant, 64 at a time: 2 round trips,
    /// and one more for each further 64. Errors: errc::not_authorized, unreachable (no answer
    /// within the session timeout), closed, forked, would_deadlock.
    [[nodiscard]] std::vector<participant> participants();

    /// The first participant, if there is one. Cost: 2 requests, 2 round trips. Errors: as
    /// participants().
    [[nodiscard]] std::optional<participant> holder();

    /// Asks a participant, holder or not, to give up its place, as Curator's Revoker does. The
    /// request replaces the data of its znode. The participant decides whether to comply
    /// (hold::revocation_requested(), or Curator's RevocationListener). Returns false if it has
    /// left. Cost: 1 request, 1 round trip. Errors: as participants(), and errc::invalid_argument
    /// if `whom` is not a participant of this queue.
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
