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
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// Several mutexes as one: all of them or none, without the deadlocks of taking them one by one.
///
///     latchkey::multi_mutex both(zk, {"/accounts/4711", "/accounts/42"});
///     const std::scoped_lock lock(both);
///
/// One transaction joins the queue of every path, as a mutex on that path does. So every directory
/// sees two multi_mutexes in the same order, and neither can wait for the other. If the paths do
/// not fit into one transaction, the constructor fails: they are never taken one by one. Servers
/// that cannot do the transaction cause errc::unsupported.
///
/// - Guarantee: that of `hold`, for every path. One fencing token serves all paths. On each path it
///   is above the tokens of earlier holders and below those of later ones. It is the czxid of the
///   znodes, or the zxid of an event between their creation and that of any later holder's znode.
/// - Single locks on the same paths: a latchkey::mutex and Curator's InterProcessMutex take turns
///   with it on each path. A program that holds one path and then waits for another can deadlock
///   with a multi_mutex of both: the program waits behind the multi_mutex, which waits for the
///   program. Take several of these paths with a multi_mutex, or try and back off as std::lock()
///   and boost::lock() do.
/// - Waiting: it keeps its place in every queue. In a queue where it is already first, the
///   participants behind it wait as well. Take few paths, and hold them briefly.
/// - Loss: if another client deletes one of the znodes, all paths are lost; the other znodes go
///   with the release. A waiter that loses one znode joins all queues again at their tails.
/// - Participants and revoke(): use a mutex on one of the paths. A request for one path is a
///   request for all of them (hold::revocation_requested()), because no path is given up alone.
/// - acquire_options::reserved is called once for each path.
/// - Cost of an acquire of n paths, uncontended: 1 multi, 1 read and n lists in 1 round trip, plus
///   one request for each level of each path that is not known to exist (as mutex, if the access
///   control list is not open). One more round trip, for
///   the token, if another participant joined one of the queues meanwhile. try_acquire() while one
///   of the paths is held: n lists in 1 round trip, no writes.
/// - Cost, contended: 2 round trips, then no requests until the predecessors leave. Release: 1
///   request that no call waits for; participants behind see its effect on all paths at once.
/// - Threads, Lockable, lifetime: as mutex.
class LATCHKEY_EXPORT multi_mutex : public acquire_forms<multi_mutex>,
                                    public lock_forms<multi_mutex> {
public:
    /// Takes the paths in any order; a path that is given twice counts once. Sends no request.
    /// Errors: errc::invalid_argument for no path, a path that mutex refuses, a path that lies
    /// below another one, or more paths than fit into one request (at least 500 of the longest).
    multi_mutex(const client& c, std::vector<std::string> paths, lock_options options = {});
    multi_mutex(const multi_mutex&) = delete;
    multi_mutex& operator=(const multi_mutex&) = delete;
    ~multi_mutex();

    void unlock() noexcept;

    /// As mutex::held().
    [[nodiscard]] hold& held();

    /// The first participant in the queue of each path, for those paths whose queue is not empty,
    /// in the order of paths(). Cost: 2 requests for each path, one after the other. Errors: as
    /// mutex::participants().
    [[nodiscard]] std::vector<participant> holders(std::error_code& ec = throws());

    /// The paths, sorted, each once. hold::paths() lists the znodes in this order.
    [[nodiscard]] const std::vector<std::string>& paths() const noexcept;

private:
    friend acquire_forms<multi_mutex>;
    friend lock_forms<multi_mutex>;
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
