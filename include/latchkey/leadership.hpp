#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/transaction.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

class leader_term;

/// One term of leadership: until when it can be believed, and what to guard effects with. A handle
/// that is copied freely; the term ends with the leader_latch or leader_selector, never with a
/// handle.
///
/// - Guarantee: `valid()` turns false before anybody else can be elected, as long as this machine's
///   clock runs at about the servers' rate; once false it stays false. So it does when the leader
///   resigns, before anybody is told.
/// - Limit: a process paused between asking `valid()` and acting acts late; no election can prevent
///   that. Effects inside ZooKeeper go through `transact()`, effects outside carry
///   `fencing_token()`.
/// - Tokens increase strictly from each term to the next, whoever leads; Curator's leaders, who
///   have none, change nothing about that.
/// - Threads: all members from any thread at any time.
/// - Lifetime: may outlive the latch and the client; the term is over then.
class leadership {
public:
    using transact_handler = hold::transact_handler;
    using proclaim_handler = std::function<void(std::error_code)>;

    /// No term: never valid.
    leadership() noexcept = default;
    leadership(const leadership& other) noexcept = default;
    leadership(leadership&& other) noexcept = default;
    leadership& operator=(const leadership& other) noexcept;
    leadership& operator=(leadership&& other) noexcept;
    ~leadership();

    /// True if this is a term, valid or over; false if it is empty.
    [[nodiscard]] explicit operator bool() const noexcept { return term_ != nullptr; }

    /// Whether to go on as the leader. Reads the clock: a process that was stopped and wakes up
    /// late sees false at once. Cost: one clock read.
    [[nodiscard]] bool valid() const noexcept;

    /// Until when `valid()` stays true if no server answers any more. Moves forward with every
    /// answered quorum write while valid; the past once over; `time_point::min()` when empty.
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    /// Requested when the term ends, for whatever reason, on the client's stop thread. Listeners
    /// are called after its stop callbacks. Empty: a token that can never be requested.
    [[nodiscard]] std::stop_token lost() const noexcept;

    /// Why the term is over (loss::resigned if this candidate gave it up); loss::none while it is
    /// not.
    [[nodiscard]] loss why_lost() const noexcept;

    /// Requested, on the client's stop thread, when another candidate or an operator wants it: this
    /// leader is to finish what it does and then give it up. The term stays as it is meanwhile.
    [[nodiscard]] std::stop_token hand_over_requested() const noexcept;

    /// The same for the whole term. Zero when empty.
    [[nodiscard]] latchkey::fencing_token fencing_token() const noexcept;

    /// This candidate's znode, for example "/service/_c_0123...-latch-0000000007". Empty when
    /// empty.
    [[nodiscard]] std::string path() const;

    /// What this candidate calls itself: leader_options::id.
    [[nodiscard]] std::string id() const;

    /// Commits all operations, or none of them, and only if this term is not over on the servers:
    /// as hold::transact(), at the same cost and with the same errors.
    std::vector<std::string> transact(std::vector<operation> operations) const;
    std::vector<std::string> transact(std::vector<operation> operations, std::error_code& ec) const;
    void async_transact(std::vector<operation> operations, transact_handler handler) const;

    /// Replaces what this leader publishes, for as long as the term lasts; whoever observes the
    /// election is told.
    ///
    /// - Sends: a guarded write of the leader's record, the data of the election's path; never
    ///   of a candidate's znode. Several are written one after the other, in the order of the
    ///   calls.
    /// - Cost: 1 request, 1 round trip; 2 more requests if somebody else has written there.
    /// - Blocks: until it is known that it was written; goes on through `suspended`.
    /// - Errors: errc::hold_lost, the term is over, and nothing was written. errc::indeterminate,
    ///   it ended before that was known. errc::invalid_argument, the data is too long or no UTF-8,
    ///   or somebody has put data of their own where the record was: that is left alone.
    ///   errc::not_authorized, closed, forked, would_deadlock.
    void proclaim(std::string data) const;
    void proclaim(std::string data, std::error_code& ec) const;

    /// The same without blocking; `handler` runs on the client's callback thread.
    void async_proclaim(std::string data, proclaim_handler handler) const;

private:
    friend class leader_term;
    explicit leadership(std::shared_ptr<leader_term> term) noexcept;

    std::shared_ptr<leader_term> term_;
};

}  // namespace latchkey
