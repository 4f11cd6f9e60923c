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

/// A number of permits on a path, taken and given back by any process, in the order of arrival.
///
/// The limit is the data of the znode at the path; participants wait in `queue/` and have their
/// permits in `permits/` below it. Whoever wants several takes them at once or waits: two that
/// want two of two cannot each hold one. A large request holds back the smaller ones behind it.
///
/// - Guarantee: that of `hold`, for each of the permits; a grant never brings the permits that
///   are taken above the limit. Fencing tokens say who it is; they order nothing, because several
///   hold.
/// - Threads: all members from any thread; each acquire is a participant.
/// - Lifetime: holds outlive the semaphore.
class semaphore {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// A semaphore of `limit` permits, made with the first acquire, or verified: a limit that is
    /// not the one stored is errc::invalid_argument, which names both. No request is sent.
    semaphore(client& c, std::string path, std::uint32_t limit, mutex_options options = {});

    /// One that is there already (errc::no_such_znode otherwise), with the limit that it has.
    semaphore(client& c, std::string path, mutex_options options = {});

    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;
    ~semaphore();

    /// Waits until it is first in the queue and `permits` are free, and takes them all.
    ///
    /// - Cost: uncontended 2 round trips, 5 requests. Behind others, nothing while waiting, then 2
    ///   round trips; the first in the queue looks again whenever permits are given back. Release:
    ///   1 request that nobody waits for.
    /// - Errors: mutex::acquire()'s, and errc::invalid_argument for more permits than the limit,
    ///   now or after a resize.
    /// - Blocks, cancel, afterwards: as mutex::acquire().
    [[nodiscard]] hold acquire(std::uint32_t permits = 1, acquire_options options = {});
    [[nodiscard]] hold acquire(std::uint32_t permits, acquire_options options, std::error_code& ec);

    /// Takes them if nobody waits and they are free, else returns an empty hold.
    [[nodiscard]] hold try_acquire(std::uint32_t permits = 1);

    /// As mutex::try_acquire_for() and until.
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

    /// Sets the limit, for everybody. Holds that exceed a lowered one stay; nothing is granted
    /// until what is taken fits. Who gave the old limit goes on with the objects that it has.
    /// Cost: 2 requests, 2 round trips. Errors: errc::version_mismatch if somebody else
    /// resized meanwhile, no_such_znode, not_authorized, indeterminate.
    void resize(std::uint32_t limit);

    /// The limit as it is stored.
    [[nodiscard]] std::uint32_t limit();

    /// How many are free, as the server asked sees it. Cost: 2 requests, 1 round trip.
    [[nodiscard]] std::uint32_t available();

    /// Those that have permits, then those that wait, in order. Cost: 2 requests, then one a
    /// participant, 2 round trips.
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
