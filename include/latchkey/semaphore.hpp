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
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

/// A number of permits on a path, which processes take and give back, in the order of arrival.
///
///     latchkey::semaphore licenses(zk, "/licenses", 5);
///     latchkey::hold two = licenses.acquire(2);
///
/// The data of the znode at the path is the number of permits. Participants wait in `queue/` below
/// the path, and their permits are znodes in `permits/`. An acquire of several permits takes all of
/// them at once. So two participants that each want two of two permits cannot block each other with
/// one each. A large request holds back the smaller ones behind it.
///
/// - Guarantee: that of `hold`. In addition, no grant makes the permits in use exceed that number.
///   The fencing token of a permit only identifies its holder, because there are several holders.
/// - acquire(n) waits until this participant is the first in the queue and n permits are free, then
///   takes all of them. try_acquire(n) takes them if no participant waits and enough are free.
///   errc::invalid_argument for more permits than the stored number, now or after a resize.
/// - Cost of an acquire, uncontended: 5 requests in 2 round trips. Behind others, no requests while
///   it waits, then 2 round trips. The first in the queue looks again whenever permits are given
///   back. Release: 1 request that no call waits for.
/// - Threads: any thread may call any member. Each acquire is a participant of its own.
/// - Lifetime: holds outlive the semaphore.
class LATCHKEY_EXPORT semaphore : public acquire_forms<semaphore, std::uint32_t> {
public:
    using acquire_forms::acquire;
    using acquire_forms::try_acquire;

    /// A semaphore of `permits` permits. The first acquire creates it, or compares `permits` with
    /// the stored number. If they differ, the acquire fails with errc::invalid_argument, which
    /// names both. After a resize(), objects that were given the earlier number continue to work.
    /// The constructor sends no request.
    semaphore(const client& c, std::string path, std::uint32_t permits, lock_options options = {});

    /// A semaphore that exists already, with its stored number of permits. If it does not exist,
    /// calls fail with errc::no_such_znode. The constructor sends no request.
    semaphore(const client& c, std::string path, lock_options options = {});

    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;
    ~semaphore();

    /// One permit.
    [[nodiscard]] hold acquire() { return acquire(1); }

    [[nodiscard]] hold try_acquire() { return try_acquire(1); }

    /// Changes the stored number of permits. Present holds stay, even if they exceed it; nothing
    /// more is granted until the permits in use fit. Objects that were given the earlier number
    /// continue to work. Cost: 2 requests, 2 round trips. Errors: errc::version_mismatch if another
    /// client resized at the same time; no_such_znode, not_authorized, indeterminate.
    void resize(std::uint32_t permits, std::error_code& ec = throws());

    /// The stored number of permits. Cost: 1 request, 1 round trip.
    [[nodiscard]] std::uint32_t capacity(std::error_code& ec = throws());

    /// The number of free permits, as one server sees it. Cost: 2 requests, 1 round trip.
    [[nodiscard]] std::uint32_t available(std::error_code& ec = throws());

    /// The participants that hold permits, then those that wait, in order. Cost: 3 requests, then
    /// one for each participant, 64 at a time: 2 round trips, and one more for each further 64.
    [[nodiscard]] std::vector<participant> participants(std::error_code& ec = throws());

    /// As mutex::revoke().
    bool revoke(const participant& whom, std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    friend acquire_forms<semaphore, std::uint32_t>;
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
