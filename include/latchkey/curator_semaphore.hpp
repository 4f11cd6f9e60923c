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
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// A semaphore that is shared with programs that use Curator's InterProcessSemaphoreV2 (or, with
/// one permit, its InterProcessSemaphoreMutex). Among Latchkey programs alone, `semaphore` is
/// better: the servers know its number of permits, which can be changed.
///
///     latchkey::curator_semaphore licenses(zk, "/licenses", 5);
///     latchkey::hold one = licenses.acquire();
///
/// As in Curator, participants queue in `locks/` below the path, and each permit is a znode in
/// `leases/`, where every child counts. The number of permits is not stored: each program gives it,
/// and programs that give different numbers are not noticed. Unlike in Curator, several permits are
/// taken in one transaction, and only when all of them are free.
///
/// - Guarantee: that of `hold`, for all its permits together. In addition, no grant makes the
///   permits in use exceed the number of this object. Fencing tokens only identify the holder.
/// - acquire(n) waits until this participant is the first in the queue and n permits are free, then
///   takes all of them. At most 100 at once. try_acquire(n) takes them if no participant waits and
///   enough are free. errc::invalid_argument for more permits than the semaphore's number.
/// - Cost of an acquire, uncontended: 4 requests in 2 round trips. Behind others, no requests while
///   it waits, then 2 round trips. The first in the queue looks again whenever permits are given
///   back. Release: 1 request that no call waits for.
/// - Threads: any thread may call any member. Each acquire is a participant of its own.
/// - Lifetime: holds outlive the semaphore.
class LATCHKEY_EXPORT curator_semaphore : public acquire_forms<curator_semaphore, std::uint32_t> {
public:
    using acquire_forms::acquire;
    using acquire_forms::try_acquire;

    /// Sends no request. Errors: as mutex's constructor, and errc::invalid_argument for 0
    /// permits.
    curator_semaphore(const client& c,
                      std::string path,
                      std::uint32_t permits,
                      lock_options options = {});
    curator_semaphore(const curator_semaphore&) = delete;
    curator_semaphore& operator=(const curator_semaphore&) = delete;
    ~curator_semaphore();

    /// One permit.
    [[nodiscard]] hold acquire() { return acquire(1); }

    [[nodiscard]] hold try_acquire() { return try_acquire(1); }

    /// The number of free permits, as one server sees it. Cost: 1 request, 1 round trip.
    [[nodiscard]] std::uint32_t available(std::error_code& ec = throws());

    /// The permits that are taken, one participant for each, then the participants that wait, in
    /// order. A Curator participant at the head of the queue is in both parts if it has created its
    /// lease already. Cost: 2 requests, then one for each participant, 64 at a time: 3 round trips,
    /// and one more for each further 64.
    [[nodiscard]] std::vector<participant> participants(std::error_code& ec = throws());

    /// As mutex::revoke(). A hold of several permits is asked through any of them. Curator's
    /// participants ignore the request.
    bool revoke(const participant& whom, std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    friend acquire_forms<curator_semaphore, std::uint32_t>;
    class LATCHKEY_HIDDEN impl;

    hold acquire_within(std::uint32_t permits,
                        std::chrono::nanoseconds timeout,
                        acquire_options options,
                        std::error_code& ec);
    awaitable<hold> await_acquire(std::uint32_t permits,
                                  std::chrono::nanoseconds timeout,
                                  acquire_options options);
    void start_acquire(std::uint32_t permits,
                       std::chrono::nanoseconds timeout,
                       acquire_options options,
                       acquire_handler handler);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
