#pragma once

#include <latchkey/acquire_forms.hpp>
#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock_options.hpp>
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

namespace latchkey::inline v0 {

/// An exclusive lock on a path: at most one holder among all processes, in the order of arrival.
///
///     latchkey::client zk = latchkey::client::connect("zk1,zk2,zk3/app");
///     latchkey::mutex m(zk, "/jobs/nightly");
///     if (latchkey::hold h = m.try_acquire_for(30s)) {
///         write_report(h.token());                // the store refuses older tokens
///         h.transact({latchkey::operation::set("/jobs/last", today)});  // commits only while held
///     }
///
/// - Guarantee: that of `hold`. Participants are granted first come, first served. An acquire()
///   that continues after its session was lost joins again at the tail of the queue.
/// - Threads: any thread may call any member. One object is one participant: threads that share it
///   queue inside the process, first come, first served. The next thread proceeds when the hold of
///   the previous one has been released, even if that hold was lost. When max_hold is over, the
///   client releases it.
/// - Not recursive: lock() and try_lock() detect a second lock by the same thread. acquire()
///   cannot, because a hold may move between threads: a thread that acquires twice waits for
///   itself.
/// - Lockable: meets TimedLockable, for the guards of std and boost. A lock is that of the thread
///   that locked. unlock() of a lost lock never throws, and releases no lock of another thread;
///   held() says whether the lock is still valid. A guard may move to another thread: if several
///   threads have locked, all but one of them lost their locks, and a thread that has not locked
///   unlocks a lost one first.
/// - Cost of an acquire, uncontended: 2 requests in 1 round trip, plus one request for each level
///   of the path that is not known to exist. Unless the access control list is open, the first
///   acquire sends 2 more, and takes 1 round trip more if levels above the directory are missing.
///   A hold that lasts longer than 10 ms sends one more read, which no call waits for.
///   try_acquire(): 2 round trips, or 1 request if the lock is held.
/// - Cost, contended: 4 requests in 2 round trips, then no requests until the predecessor leaves.
///   If others were ahead of the predecessor, one or two more round trips follow, with a list. In a
///   queue that was long when the caller joined (32 participants) it is 1 read in 1 round trip
///   instead, however long the queue is, and the holder sends 1 transaction for the next waiter,
///   which no call waits for. Each reconnect while it waits: 2 reads. Participants of one client
///   that join a queue together share their lists, which may take each of them one more round trip.
/// - Lifetime: holds outlive the mutex. Destroying a mutex that is locked through lock() unlocks
///   it.
/// - Znodes: the path is a directory, a container znode that is created when needed. Each
///   participant is an ephemeral sequential znode in it, with Curator's names. In a long queue,
///   holders leave their names in the data of the path, if it is empty and they have WRITE.
///   Curator's InterProcessMutex and LeaderSelector and go-zookeeper's Lock contend for the same
///   lock. kazoo's Lock can be configured to do so (docs/interoperation.md).
class LATCHKEY_EXPORT mutex : public acquire_forms<mutex>, public lock_forms<mutex> {
public:
    /// Sends no request. Errors: errc::invalid_argument names the path or the data at fault. A path
    /// follows ZooKeeper's rules. It is UTF-8 of at most 1024 bytes without control characters, has
    /// no "." or ".." component, and is not below /zookeeper.
    mutex(const client& c, std::string path, lock_options options = {});
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex();

    void unlock() noexcept;

    /// The hold of this thread's lock(): its validity, token and transactions. In a thread that has
    /// not locked, the hold that unlock() would release. The reference is valid until unlock(),
    /// which follows also after a release through it.
    /// Errors: errc::hold_lost if this object is not locked through lock().
    [[nodiscard]] hold& held();

    /// All participants in the order of the queue; the first one holds the lock. Empty if the path
    /// does not exist. Cost: 1 request, then one for each participant, 64 at a time: 2 round trips,
    /// and one more for each further 64. Errors: errc::not_authorized, unreachable (no answer
    /// within the session timeout), closed, forked, would_deadlock.
    [[nodiscard]] std::vector<participant> participants(std::error_code& ec = throws());

    /// The first participant, if there is one. Cost: 2 requests, 2 round trips. Errors: as
    /// participants().
    [[nodiscard]] std::optional<participant> holder(std::error_code& ec = throws());

    /// Asks a participant, holder or not, to give up its place, as Curator's Revoker does. The
    /// request replaces the data of its znode. The participant decides whether to comply
    /// (hold::revocation_requested(), or Curator's RevocationListener). Returns false if it has
    /// left. Cost: 1 request, 1 round trip. Errors: as participants(), and errc::invalid_argument
    /// if `whom` is not a participant of this queue.
    bool revoke(const participant& whom, std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    friend acquire_forms<mutex>;
    friend lock_forms<mutex>;
    class LATCHKEY_HIDDEN impl;

    hold acquire_within(std::chrono::nanoseconds timeout,
                        acquire_options options,
                        std::error_code& ec);
    awaitable<hold> await_acquire(std::chrono::nanoseconds timeout, acquire_options options);
    void start_acquire(std::chrono::nanoseconds timeout,
                       acquire_options options,
                       acquire_handler handler);
    bool lock_within(std::chrono::nanoseconds timeout);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
