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

/// A semaphore that is shared with programs that use Curator's InterProcessSemaphoreV2 (or, with a
/// limit of one, its InterProcessSemaphoreMutex). Among Latchkey programs alone, `semaphore` is
/// better: the servers know its limit, and it can be changed.
///
///     latchkey::curator_semaphore licenses(zk, "/licenses", 5);
///     latchkey::hold one = licenses.acquire();
///
/// As in Curator, participants queue in `locks/` below the path, and each permit is a znode in
/// `leases/`, where every child counts. The limit is not stored: each program gives it, and
/// programs that give different limits are not noticed. Unlike in Curator, several permits are
/// taken in one transaction, and only when all of them are free.
///
/// - Guarantee: that of `hold`, for all its permits together. In addition, no grant makes the
///   permits in use exceed the limit of this object. Fencing tokens only identify the holder.
/// - Threads: any thread may call any member. Each acquire is a participant of its own.
/// - Lifetime: holds outlive the semaphore.
class curator_semaphore {
public:
    using acquire_handler = std::function<void(std::error_code, hold)>;

    /// Sends no request. Errors: as mutex's constructor, and errc::invalid_argument for a limit of
    /// 0.
    curator_semaphore(client& c, std::string path, std::uint32_t limit, mutex_options options = {});
    curator_semaphore(const curator_semaphore&) = delete;
    curator_semaphore& operator=(const curator_semaphore&) = delete;
    ~curator_semaphore();

    /// Waits until this participant is the first in the queue and `permits` permits are free, then
    /// takes all of them. At most 100 at once.
    ///
    /// - Cost: uncontended, 4 requests in 2 round trips. Behind others, no requests while it waits,
    ///   then 2 round trips. The first in the queue looks again whenever permits are given back.
    ///   Release: 1 request that no call waits for.
    /// - Errors: those of mutex::acquire(), and errc::invalid_argument for more permits than the
    ///   limit.
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

    /// The number of free permits, as one server sees it. Cost: 1 request, 1 round trip.
    [[nodiscard]] std::uint32_t available();

    /// The permits that are taken, one participant for each, then the participants that wait, in
    /// order. A Curator participant at the head of the queue is in both parts if it has created its
    /// lease already. Cost: 2 requests, then one for each participant, 64 at a time: 3 round trips,
    /// and one more for each further 64.
    [[nodiscard]] std::vector<participant> participants();

    /// As mutex::revoke(). A hold of several permits is asked through any of them. Curator's
    /// participants ignore the request.
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
