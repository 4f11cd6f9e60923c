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

/// A barrier that stands on a path until somebody takes it away: Curator's DistributedBarrier.
///
/// It is a persistent znode: it stands while it exists, whatever becomes of who made it.
///
/// - Cost of taking it away: every client that waits gets one event. All of them go on, so that is
///   what there is to tell.
/// - Threads: all members from any thread. Lifetime: calls that wait end with the client
///   (errc::closed), not with this object.
class barrier {
public:
    /// True when the barrier is not there; false when the time was over or a stop requested.
    using wait_handler = std::function<void(std::error_code, bool)>;

    /// No request is sent. Errors: errc::invalid_argument for the path or the data, as mutex's.
    barrier(client& c, std::string path, mutex_options options = {});
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    ~barrier();

    /// Makes it stand; it may already. Cost: 1 request, one more a level of the path, 1 round trip.
    /// Errors: errc::unreachable within the session timeout (it may be done, or may come yet),
    /// not_authorized, closed, forked, would_deadlock. A request that a busy server has kept while
    /// the connection went elsewhere and came back may come yet as well, after a remove().
    void set();

    /// Takes it away; it may be gone already. Cost: 1 request. Errors as set(), and
    /// errc::not_empty if somebody has put znodes below it.
    void remove();

    /// Waits until it does not stand.
    ///
    /// - Cost: 2 requests in 1 round trip, one of them a write that changes nothing, then nothing
    ///   until it goes. A barrier that was set before the call is seen.
    /// - Blocks: until then, through any loss of the session; a stop request or Boost.Thread's
    ///   interrupt() ends it.
    /// - Errors: errc::not_authorized, closed, forked, would_deadlock.
    bool wait(std::stop_token stop = {});

    /// The same with one total deadline. Zero or less only looks; errc::unreachable if no server
    /// answers within the session timeout then.
    template <duration_like Duration>
    bool wait_for(const Duration& limit, std::stop_token stop = {}) {
        return wait_within(to_nanoseconds(limit), std::move(stop));
    }

    template <time_point_like TimePoint>
    bool wait_until(const TimePoint& deadline, std::stop_token stop = {}) {
        return wait_within(time_left(deadline), std::move(stop));
    }

    /// The same without blocking; `handler` is called once, on the client's callback thread.
    void async_wait(std::chrono::nanoseconds limit, std::stop_token stop, wait_handler handler);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    bool wait_within(std::chrono::nanoseconds limit, std::stop_token stop);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
