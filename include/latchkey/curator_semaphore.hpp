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
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

/// The semaphore that Curator's InterProcessSemaphoreV2 is (and, with a limit of one, its
/// InterProcessSemaphoreMutex), for programs that share it with such ones. Among our own,
/// `semaphore` is the better one: its limit is known to the servers, and can be changed.
///
/// As Curator's: participants queue in `locks/` below the path, each permit is a znode in `leases/`
/// there, any child of which counts, and the limit is what everybody believes it to be: nobody
/// notices who gives another one. Unlike Curator's: several permits are taken in one transaction,
/// and not before all of them are free.
///
/// - Guarantee: that of `hold`, for all its permits together; a grant never brings the permits that
///   are taken above the limit given here. Fencing tokens say who it is; they order nothing.
/// - Threads: all members from any thread; each acquire is a participant.
/// - Lifetime: holds outlive the semaphore.
class curator_semaphore {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// No request is sent. Errors: as a mutex's, and errc::invalid_argument for a limit of 0.
    curator_semaphore(client& c, std::string path, std::uint32_t limit, mutex_options options = {});
    curator_semaphore(const curator_semaphore&) = delete;
    curator_semaphore& operator=(const curator_semaphore&) = delete;
    ~curator_semaphore();

    /// Waits until it is first in the queue and `permits` are free, and takes them all; at most 100
    /// at once.
    ///
    /// - Cost: uncontended 2 round trips, 4 requests. Behind others, nothing while waiting, then 2
    ///   round trips; the first in the queue looks again whenever permits are given back. Release:
    ///   1 request that nobody waits for.
    /// - Errors: mutex::acquire()'s, and errc::invalid_argument for more permits than the limit.
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

    /// How many are free, as the server asked sees it. Cost: 1 request.
    [[nodiscard]] std::uint32_t available();

    /// The permits that are taken, one each; then those that wait, in order. One of Curator's that
    /// is the first of these has its znode among the former already. Cost: 2 requests, then one a
    /// participant, 2 round trips.
    [[nodiscard]] std::vector<participant> participants();

    /// As mutex::revoke(): asks a hold of several permits through any of them. Curator's do not
    /// listen.
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
