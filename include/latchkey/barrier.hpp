#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/mutex_options.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey {

/// A barrier on a path: clients that wait at it continue when it is removed. Curator's
/// DistributedBarrier.
///
///     latchkey::barrier migration(zk, "/migration");
///     migration.set();     // one program, before it starts
///     migration.wait();    // others: continue after migration.remove()
///
/// The barrier is a persistent znode. It exists until a client removes it, even if the client that
/// set it is gone.
///
/// - Guarantee: wait() does not return true while the barrier has existed without a break since
///   before the call, whichever server answers.
/// - Cost of remove(), for the others: each client that waits receives one event.
/// - Threads: any thread may call any member.
/// - Lifetime: calls that wait end with the client (errc::closed), not with this object.
class barrier {
public:
    /// Receives true if the barrier did not exist or was removed, false if the time was over or
    /// stop was requested.
    using wait_handler = std::function<void(std::error_code, bool)>;

    /// Sends no request. Errors: errc::invalid_argument for the path or the data, as mutex's
    /// constructor.
    barrier(client& c, std::string path, mutex_options options = {});
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    ~barrier();

    /// Creates the barrier; it may exist already.
    ///
    /// - Cost: 1 request, plus one for each level of the path above it; 1 round trip.
    /// - Errors: errc::unreachable if there is no answer within the session timeout (the request
    ///   may have been applied, or may still be). not_authorized, closed, forked, would_deadlock.
    /// - Limit: a busy server may keep a request while the client's connection moves to another
    ///   server and back. Such a request may be applied late, even after a remove().
    void set();

    /// Removes the barrier; it may be gone already. Cost: 1 request, 1 round trip. Errors: as
    /// set(), and errc::not_empty if other znodes were created below it.
    void remove();

    /// Waits until the barrier does not exist, and returns true.
    ///
    /// - Cost: 2 requests in 1 round trip, one of them a write that changes nothing. Then no
    ///   requests until the barrier is removed.
    /// - Blocks: until then, also through lost sessions. Returns false when `stop` is requested.
    ///   Boost.Thread's interrupt() makes it throw boost::thread_interrupted.
    /// - Errors: errc::not_authorized, closed, forked, would_deadlock.
    bool wait(std::stop_token stop = {});

    /// wait() with one time limit; returns false when the time is over. If no server has answered
    /// in this time: errc::unreachable. Zero or less: looks once, and waits for the answer for at
    /// most the session timeout.
    template <duration_like Duration>
    bool wait_for(const Duration& limit, std::stop_token stop = {}) {
        return wait_within(to_nanoseconds(limit), std::move(stop));
    }

    template <time_point_like TimePoint>
    bool wait_until(const TimePoint& deadline, std::stop_token stop = {}) {
        return wait_within(time_left(deadline), std::move(stop));
    }

    /// wait() without blocking. `handler` is called once, on the client's callback thread.
    void async_wait(std::chrono::nanoseconds limit, std::stop_token stop, wait_handler handler);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    bool wait_within(std::chrono::nanoseconds limit, std::stop_token stop);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
