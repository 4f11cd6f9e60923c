#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/boottime_clock.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/function.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/loss_reason.hpp>
#include <latchkey/shared_ref.hpp>
#include <latchkey/transaction.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

class hold_state;

/// A granted lock or permit. It says until when the lock is guaranteed, and it guards the effects
/// of the work that is done under the lock.
///
///     latchkey::hold h = m.acquire();
///     while (h.valid() && more_to_do()) {
///         store.write(next_item(), h.token());  // the store refuses older tokens
///         h.transact({latchkey::operation::set("/jobs/progress", progress())});
///     }
///     h.release();  // or leave it to the destructor
///
/// - Guarantee: `valid()` turns false before the servers can grant the lock to another participant,
///   unless the hold's znode is deleted or its session is ended by hand. This holds while all
///   clocks run at the true rate within client_options::max_clock_drift. Once `valid()` is false,
///   it stays false, even if the session turns out to be alive.
/// - Limit: a process may be stopped between its call of `valid()` and the effect that follows, and
///   so act too late. No lock service can prevent that. Use `transact()` for effects inside
///   ZooKeeper, and send `token()` with effects outside.
/// - States: empty (default-constructed, moved from or released; no path), valid, or lost. Only a
///   valid hold converts to true. The znode of a lost one stays until the hold is released or
///   destroyed, because the work may still be ending, or until the session is gone.
/// - Threads: any thread may call const members at any time, also beside a release, conversion or
///   move. The caller serializes the other members. A hold may move to another thread.
/// - Lifetime: a hold may outlive its recipe object and its client. Closing the client ends the
///   hold (loss_reason::client_closed).
class [[nodiscard]] LATCHKEY_EXPORT hold {
public:
    using transact_handler =
        move_only_function<void(std::error_code, std::vector<operation_result>)>;
    using transact_once_handler = move_only_function<void(std::error_code, bool)>;

    hold() noexcept = default;
    hold(hold&& other) noexcept = default;
    hold& operator=(hold&& other) noexcept;
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

    /// Calls release(). Never throws and never waits for the network.
    ~hold();

    /// Whether the lock is still guaranteed to be held. Compares the deadline with the clock: a
    /// process that was stopped and resumes late gets false at once. Cost: one clock read.
    [[nodiscard]] bool valid() const& noexcept;

    /// valid(). False also for an empty hold, whose why_lost() is loss_reason::none.
    [[nodiscard]] explicit operator bool() const& noexcept { return valid(); }

    /// The time until valid_until(). Zero if the hold is not valid.
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

    /// Whether enough is left: the hold stays valid for more than `time`. Cost: one clock read.
    [[nodiscard]] bool valid_for(const duration_like auto& time) const& noexcept {
        return remaining() > to_nanoseconds(time);
    }

    /// A token whose stop is requested once, on the client's stop thread, when less than `margin`
    /// is left until the deadline; at the latest with lost(). The hold may recover afterwards.
    /// While the servers answer, a third of the session timeout is always left.
    [[nodiscard]] std::stop_token at_risk(const duration_like auto& margin) const& {
        return at_risk_within(to_nanoseconds(margin));
    }

    /// The deadline: until when `valid()` stays true if no server answers any more. An answered
    /// quorum write may move it forward while the hold is valid. A time in the past once the hold
    /// is lost; `time_point::min()` for an empty hold.
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    /// A token whose stop is requested once, when the hold is lost, on the client's stop thread. No
    /// listener, handler or `log` function delays that; only earlier stop callbacks can. Not by a
    /// release, and never for an empty hold.
    [[nodiscard]] std::stop_token lost() const& noexcept;

    /// The first cause of the loss. loss_reason::none while the hold is valid, and for an empty
    /// hold.
    [[nodiscard]] loss_reason why_lost() const noexcept;

    /// A token whose stop is requested, on the client's stop thread, when another client asks for
    /// the lock (revoke(), or Curator's Revoker). The hold does not change: the holder decides
    /// whether and when to release it. If the request came while this participant was still
    /// waiting, stop is requested right after the grant. A hold that is released within
    /// milliseconds may miss a request. Cost: one read for each change of the znode's data.
    [[nodiscard]] std::stop_token revocation_requested() const& noexcept;

    /// The token of this hold. It never changes. Zero for an empty hold.
    [[nodiscard]] fencing_token token() const& noexcept;

    LATCHKEY_UNNAMED bool valid() const&& noexcept { return valid(); }

    LATCHKEY_UNNAMED explicit operator bool() const&& noexcept { return valid(); }

    LATCHKEY_UNNAMED bool valid_for(const duration_like auto& t) const&& { return valid_for(t); }

    LATCHKEY_UNNAMED std::stop_token at_risk(const duration_like auto& margin) const&& {
        return at_risk(margin);
    }

    LATCHKEY_UNNAMED std::stop_token lost() const&& noexcept { return lost(); }

    LATCHKEY_UNNAMED std::stop_token revocation_requested() const&& noexcept {
        return revocation_requested();
    }

    LATCHKEY_UNNAMED fencing_token token() const&& noexcept { return token(); }

    /// The path of the participant's znode, for example "/jobs/nightly/_c_0123...-lock-0000000007".
    [[nodiscard]] std::string path() const;

    /// The paths of all znodes of this hold: one, except for a multi_mutex, in the order of its
    /// paths, and a curator_semaphore, one for each permit.
    [[nodiscard]] std::vector<std::string> paths() const;

    /// The mode that was granted. Always exclusive, except for a shared_mutex.
    [[nodiscard]] lock_mode mode() const noexcept;

    /// Commits all operations or none of them, and only if this hold still exists on the servers.
    ///
    /// - Sends: `multi[check(own znode), operations...]`, exactly once. It is never sent again. A
    ///   hold of several znodes checks all of them.
    /// - Cost: 1 request, 1 round trip.
    /// - Returns: one result for each operation, in their order.
    /// - Blocks: until the answer arrives or the client gives up the connection, after at most 5/12
    ///   of the session timeout without an answer.
    /// - Errors that say that nothing was applied: errc::hold_lost if the hold is not valid (then
    ///   nothing was sent) or its znode is gone. errc::invalid_argument for a bad path, no
    ///   operation, or a request that is too large. If the servers refuse an operation, the errc of
    ///   that refusal; `what()` names the operation and its path. errc::forked, would_deadlock.
    /// - errc::indeterminate: the connection failed before the answer. The operations may have been
    ///   applied, or may still be applied while the hold's znode exists. After release_and_wait()
    ///   has returned true they cannot be applied any more.
    std::vector<operation_result> transact(std::vector<operation> operations,
                                           std::error_code& ec = throws());

    /// transact() without blocking, with a handler that is called once on the client's callback
    /// thread, or for coroutines (awaitable.hpp). Throw errc::hold_lost for an empty hold, and
    /// errc::forked.
    void async_transact(std::vector<operation> operations, transact_handler handler);
    [[nodiscard]] awaitable<std::vector<operation_result>> transact_async(
        operation_list operations);

    /// Commits the operations unless the znode `marker` exists, and creates it with them. So they
    /// are applied once, whatever answers are lost and however often programs make the call:
    ///
    ///     h.transact_once("/billing/2026-11-23", {latchkey::operation::set("/billing/sum", sum)});
    ///
    /// - Returns: true: this call applied them. False: the marker was there before, whoever made
    ///   it, and this call applied nothing.
    /// - Sends: `multi[check(own znode), create(marker), operations...]`. If the answer is lost,
    ///   the client reconnects and sends it again. The marker's data, which belongs to the library,
    ///   shows whether an earlier try was applied. It stays until a program deletes it: not while a
    ///   call with it may still run or be repeated.
    /// - Cost: 1 request, 1 round trip. 2 more of each if another client has written to the hold's
    ///   znode, as revoke() does. After a lost answer also up to 3 requests that find out what
    ///   happened; one of them may rewrite the data of the hold's znode.
    /// - Blocks: until the outcome is known.
    /// - Errors, which say that nothing was applied and nothing will be: as transact(). The parent
    ///   of `marker` must exist. A conversion of the hold ends the call: errc::hold_lost.
    /// - errc::indeterminate: no server was reached for a session timeout, the client was closed,
    ///   or the access control lists do not let the client read the marker or write the hold's
    ///   znode. A later call with the same marker, under a new hold, resolves it.
    bool transact_once(std::string marker,
                       std::vector<operation> operations,
                       std::error_code& ec = throws());

    /// As async_transact() and transact_async().
    void async_transact_once(std::string marker,
                             std::vector<operation> operations,
                             transact_once_handler handler);
    [[nodiscard]] awaitable<bool> transact_once_async(std::string marker,
                                                      operation_list operations);

    /// Gives up the lock and empties this object, without waiting. The client sends the delete of
    /// the znode and repeats it until the znode is proven gone or its session is. The caller needs
    /// to do nothing more, whatever the network does. Cost: 1 request that no call waits for.
    /// Releasing an empty or lost hold is allowed. When this returns, try_acquire() of another
    /// client may still find the lock taken. A test that needs it free calls release_and_wait().
    void release() noexcept;

    /// release(), then waits until the servers have confirmed that the hold's znodes are gone: true
    /// only then. False after client_options::close_timeout (the client continues to try), if other
    /// holds use the znode (lock_options::local_passes), if the client was closed or its session
    /// replaced before, for an empty hold, and in callbacks. interrupt() does not end it.
    [[nodiscard]] bool release_and_wait() noexcept;

private:
    friend class hold_state;
    explicit hold(std::shared_ptr<hold_state> state) noexcept;
    [[nodiscard]] std::shared_ptr<hold_state> granted() const;

    [[nodiscard]] std::stop_token at_risk_within(std::chrono::nanoseconds margin) const;

    shared_ref<hold_state> state_;
};

}  // namespace latchkey::inline v0
