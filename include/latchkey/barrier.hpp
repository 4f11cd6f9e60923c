#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/lock_options.hpp>
#include <latchkey/wait_forms.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey::inline v0 {

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
///
/// - wait() waits until the barrier does not exist, also through lost sessions, and returns true.
/// - Cost of a wait: 2 requests in 1 round trip, one of them a write that changes nothing. Then no
///   requests until the barrier is removed.
/// - Errors of a wait: errc::unreachable, not_authorized, closed, forked, would_deadlock.
class LATCHKEY_EXPORT barrier : public wait_forms<barrier, bool> {
public:
    /// Sends no request. Errors: errc::invalid_argument for the path or the data, as mutex's
    /// constructor.
    barrier(const client& c, std::string path, lock_options options = {});
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    ~barrier();

    /// Creates the barrier; it may exist already.
    ///
    /// - Cost: 1 request, plus one for each level of the path above it; 1 round trip.
    /// - Errors: errc::unreachable if there is no answer within the session timeout (the request
    ///   may have been applied, or may still be). not_authorized, quota_exceeded,
    ///   ephemeral_parent, closed, forked, would_deadlock.
    /// - Limit: a busy server may keep a request while the client's connection moves to another
    ///   server and back. Such a request may be applied late, even after a remove().
    void set(std::error_code& ec = throws());

    /// Removes the barrier; it may be gone already. Cost: 1 request, 1 round trip. Errors: as
    /// set(), and errc::not_empty if other znodes were created below it.
    void remove(std::error_code& ec = throws());

    [[nodiscard]] const std::string& path() const noexcept;

private:
    friend wait_forms<barrier, bool>;
    class LATCHKEY_HIDDEN impl;

    bool wait_within(std::chrono::nanoseconds timeout, std::stop_token stop, std::error_code& ec);
    void start_wait(std::chrono::nanoseconds timeout, std::stop_token stop, wait_handler handler);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
