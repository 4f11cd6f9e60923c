#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/mutex_options.hpp>
#include <latchkey/participant.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// A number of permits on a path, which processes take and give back, in the order of arrival.
///
///     latchkey::semaphore licenses(zk, "/licenses", 5);
///     latchkey::hold two = licenses.acquire(2);
///
/// The data of the znode at the path is the limit. Participants wait in `queue/` below the path,
/// and their permits are znodes in `permits/`. An acquire of several permits takes all of them at
/// once. So two participants that each want two of two permits cannot block each other with one
/// each. A large request holds back the smaller ones behind it.
///
/// - Guarantee: that of `hold`. In addition, no grant makes the permits in use exceed the limit.
///   The fencing token of a permit only identifies its holder, because there are several holders.
/// - Threads: any thread may call any member. Each acquire is a participant of its own.
/// - Lifetime: holds outlive the semaphore.
class semaphore {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// A semaphore of `limit` permits. The first acquire creates it, or compares `limit` with the
    /// one that is stored. If they differ, the acquire fails with errc::invalid_argument, which
    /// names both. After a resize(), objects that were given the earlier limit continue to work.
    /// The constructor sends no request.
    semaphore(client& c, std::string path, std::uint32_t limit, mutex_options options = {});

    /// A semaphore that exists already, with its stored limit. If it does not exist, calls fail
    /// with errc::no_such_znode. The constructor sends no request.
    semaphore(client& c, std::string path, mutex_options options = {});

    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;
    ~semaphore();

    /// Waits until this participant is the first in the queue and `permits` permits are free, then
    /// takes all of them.
    ///
    /// - Cost: uncontended, 5 requests in 2 round trips. Behind others, no requests while it waits,
    ///   then 2 round trips. The first in the queue looks again whenever permits are given back.
    ///   Release: 1 request that no call waits for.
    /// - Errors: those of mutex::acquire(), and errc::invalid_argument for more permits than the
    ///   limit, now or after a resize.
    /// - Blocks, cancel, afterwards: as mutex::acquire().
    [[nodiscard]] hold acquire(std::uint32_t permits = 1, acquire_options options = {});
    [[nodiscard]] hold acquire(std::uint32_t permits, acquire_options options, std::error_code& ec);

    /// Takes the permits if no participant waits and enough are free; otherwise returns an empty
    /// hold.
    [[nodiscard]] hold try_acquire(std::uint32_t permits = 1);

    /// As mutex::try_acquire_for(): one time limit for everything.
    template <duration_like Duration>
    [[nodiscard]] hold try_acquire_for(std::uint32_t permits,
                                       const Duration& limit,
                                       acquire_options options = {}) {
        return acquire_within(permits, to_nanoseconds(limit), std::move(options));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] hold try_acquire_until(std::uint32_t permits,
                                         const TimePoint& deadline,
                                         acquire_options options = {}) {
        return acquire_within(permits, time_left(deadline), std::move(options));
    }

    /// As mutex::async_acquire().
    void async_acquire(std::uint32_t permits,
                       std::chrono::nanoseconds limit,
                       acquire_options options,
                       acquire_handler handler);

    /// Changes the stored limit. Present holds stay, even if they exceed a lower limit; nothing
    /// more is granted until the permits in use fit. Objects that were given the earlier limit
    /// continue to work. Cost: 2 requests, 2 round trips. Errors: errc::version_mismatch if another
    /// client resized at the same time; no_such_znode, not_authorized, indeterminate.
    void resize(std::uint32_t limit);

    /// The stored limit. Cost: 1 request, 1 round trip.
    [[nodiscard]] std::uint32_t limit();

    /// The number of free permits, as one server sees it. Cost: 2 requests, 1 round trip.
    [[nodiscard]] std::uint32_t available();

    /// The participants that hold permits, then those that wait, in order. Cost: 3 requests, then
    /// one for each participant, 64 at a time: 2 round trips, and one more for each further 64.
    [[nodiscard]] std::vector<participant> participants();

    /// As mutex::revoke().
    bool revoke(const participant& whom);

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    hold acquire_within(std::uint32_t permits,
                        std::chrono::nanoseconds limit,
                        acquire_options options);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
