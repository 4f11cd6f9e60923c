#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/boottime_clock.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/function.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/shared_ref.hpp>
#include <latchkey/transaction.hpp>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey::inline v0 {

class hold_state;
class leader_term;

/// One term of leadership. It says until when the leadership is guaranteed, and it guards the
/// effects of the leader's work. This is a handle that may be copied freely. The leader_latch or
/// leader_selector ends the term, a handle never does.
///
///     if (term.valid()) {
///         term.transact({latchkey::operation::set("/service/config", text)});
///     }
///
/// - Guarantee: `valid()` turns false before another candidate can be elected. This holds while all
///   clocks run at the true rate within client_options::max_clock_drift. When the leader resigns,
///   `valid()` is false before anyone is notified. Once it is false, it stays false.
/// - Limit: a process may be stopped between its call of `valid()` and the effect that follows, and
///   so act too late. No election can prevent that. Use `transact()` for effects inside ZooKeeper,
///   and send `token()` with effects outside.
/// - Tokens increase strictly from each term to the next, whichever candidate leads. Terms of
///   Curator's leaders, which have no tokens, do not change that.
/// - Threads: any thread may call any member at any time, also while another thread assigns or
/// moves
///   this object. Only the destructor has to come last.
/// - Lifetime: a handle may outlive the latch and the client; the term is over then.
class [[nodiscard]] LATCHKEY_EXPORT leadership {
public:
    using transact_handler = hold::transact_handler;
    using transact_once_handler = hold::transact_once_handler;
    using proclaim_handler = move_only_function<void(std::error_code)>;

    /// No term: never valid.
    leadership() noexcept = default;
    leadership(const leadership& other) noexcept = default;
    leadership(leadership&& other) noexcept = default;
    leadership& operator=(const leadership& other) noexcept = default;
    leadership& operator=(leadership&& other) noexcept = default;
    ~leadership() = default;

    /// Whether this candidate still leads. Compares the deadline with the clock and needs no event,
    /// so a process that was stopped and resumes late gets false at once. Cost: one clock read.
    [[nodiscard]] bool valid() const noexcept;

    /// valid(). False for a term that is over and for an empty handle; why_lost() tells which: an
    /// empty one has loss_reason::none.
    [[nodiscard]] explicit operator bool() const noexcept { return valid(); }

    /// How long the leadership is still guaranteed, if no server answers any more: the time until
    /// valid_until(). Zero if it is not valid.
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

    /// Whether the leadership is valid and stays so for at least `time`: "is there enough left for
    /// a call of two seconds?". Cost: one clock read.
    template <duration_like Duration>
    [[nodiscard]] bool valid_for(const Duration& time) const noexcept {
        return remaining() > to_nanoseconds(time);
    }

    /// A token whose stop is requested once, on the client's stop thread, when less than `margin`
    /// is left until the deadline; at the latest with lost(). It warns early: while the servers
    /// answer, at least a third of the session timeout is left, so a larger margin is requested
    /// soon. The term may recover afterwards. For an empty handle, stop can never be requested.
    template <duration_like Duration>
    [[nodiscard]] std::stop_token at_risk(const Duration& margin) const {
        return at_risk_within(to_nanoseconds(margin));
    }

    /// The deadline: until when `valid()` stays true if no server answers any more. An answered
    /// quorum write may move it forward while the term is valid. A time in the past once the term
    /// is over; `time_point::min()` for an empty handle.
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    /// A token whose stop is requested when the term ends, for any reason, on the client's stop
    /// thread. The listeners are called after its stop callbacks have returned. For an empty
    /// handle, stop can never be requested.
    [[nodiscard]] std::stop_token lost() const noexcept;

    /// The first cause of the end of the term; loss_reason::resigned if this candidate gave up the
    /// leadership. loss_reason::none while the term lasts.
    [[nodiscard]] loss_reason why_lost() const noexcept;

    /// A token whose stop is requested, on the client's stop thread, when another candidate or an
    /// operator asks for the leadership. The leader should finish its work and then give up the
    /// leadership. The term continues until then.
    [[nodiscard]] std::stop_token hand_over_requested() const noexcept;

    /// The token of this term. It never changes. Zero for an empty handle.
    [[nodiscard]] fencing_token token() const noexcept;

    /// The path of this candidate's znode, for example "/service/_c_0123...-latch-0000000007".
    /// Empty for an empty handle.
    [[nodiscard]] std::string path() const;

    /// The id of this candidate: leader_options::id.
    [[nodiscard]] std::string id() const;

    /// Commits all operations or none of them, and only if this term is not over on the servers.
    /// Cost, errors and the other rules: as hold::transact().
    std::vector<operation_result> transact(std::vector<operation> operations,
                                           std::error_code& ec = throws()) const;
    void async_transact(std::vector<operation> operations, transact_handler handler) const;

    /// Commits the operations unless the znode `marker` exists, and creates it with them. The term
    /// guards them. Returns, cost, errors and the other rules: as hold::transact_once().
    ///
    /// It never writes to the candidate's znode, because the candidate of Curator's that watches
    /// that znode would not notice its deletion then. So one more case is errc::indeterminate: an
    /// answer was lost, and then the servers refused the operations while the term went on. The
    /// first try may still be applied, as long as the term lasts.
    bool transact_once(std::string marker,
                       std::vector<operation> operations,
                       std::error_code& ec = throws()) const;
    void async_transact_once(std::string marker,
                             std::vector<operation> operations,
                             transact_once_handler handler) const;

    /// transact() and transact_once() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<std::vector<operation_result>> transact_async(
        operation_list operations) const;
    [[nodiscard]] awaitable<bool> transact_once_async(std::string marker,
                                                      operation_list operations) const;

    /// Replaces what this leader publishes, until the end of the term. Observers of the election
    /// are notified.
    ///
    /// - Sends: a guarded write of the leader's record, which is the data of the election's path.
    ///   It never writes to a candidate's znode. Several calls are written one after the other, in
    ///   their order.
    /// - Cost: 1 request, 1 round trip; 2 more requests if another client has written there.
    /// - Blocks: until the write is known to have been applied, also while the client is
    ///   `suspended`.
    /// - Errors: errc::hold_lost: the term is over, and nothing was written. errc::indeterminate:
    ///   the term ended before the outcome was known. errc::invalid_argument: the data is too long
    ///   or not UTF-8, or another program has put its own data where the record was (which stays as
    ///   it is). errc::not_authorized, closed, forked, would_deadlock.
    void proclaim(std::string data, std::error_code& ec = throws()) const;

    /// proclaim() without blocking. `handler` is called once, on the client's callback thread.
    void async_proclaim(std::string data, proclaim_handler handler) const;

    /// proclaim() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<void> proclaim_async(std::string data) const;

private:
    friend class leader_term;
    explicit leadership(std::shared_ptr<leader_term> term) noexcept;
    [[nodiscard]] std::shared_ptr<leader_term> granted() const;

    [[nodiscard]] std::stop_token at_risk_within(std::chrono::nanoseconds margin) const;

    shared_ref<leader_term> term_;
};

}  // namespace latchkey::inline v0
