#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fencing_token.hpp>
#include <latchkey/lock_mode.hpp>
#include <latchkey/transaction.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

namespace latchkey {

class hold_state;

/// Why a hold is no longer valid.
enum class loss : std::uint8_t {
    none,             ///< not lost (it may have been released)
    deadline_passed,  ///< too long without an answered quorum write: the servers may have ended the
                      ///< session
    session_expired,  ///< the servers ended the session
    session_replaced,  ///< a server handed out another session on reconnecting
    znode_deleted,     ///< somebody else deleted the participant's znode
    client_closed,     ///< the client was closed under the hold
    forked,            ///< this is the child of a fork; the parent has the hold
    suspended,         ///< the connection is gone, and the leader is one that steps down then
    resigned,          ///< the leader has given the leadership up
};

/// A sentence for people: "the participant's znode was deleted by somebody else".
[[nodiscard]] const char* to_string(loss why) noexcept;

/// A granted lock: what was granted, until when it can be believed, and what to guard effects with.
///
/// - Guarantee: `valid()` turns false before the servers can grant the lock to anybody else, as
///   long as this machine's clock runs at about the servers' rate. Once false it stays false,
///   whatever happens later.
/// - Limit: a process paused between asking `valid()` and acting acts late; no lock service can
///   prevent that. Effects inside ZooKeeper go through `transact()`, effects outside carry
///   `fencing_token()`.
/// - States: empty (default, moved from, released), valid, lost. Lost is final; the znode of a lost
///   hold goes when the hold is released or destroyed, or with the session, never earlier: work may
///   still be draining.
/// - Threads: const members from any thread at any time; the others need the caller's own order.
///   Not tied to a thread.
/// - Lifetime: may outlive the recipe object and the client (closing the client ends it:
///   loss::client_closed).
class hold {
public:
    using transact_handler = std::function<void(std::error_code, std::vector<std::string>)>;

    hold() noexcept = default;
    hold(hold&& other) noexcept = default;
    hold& operator=(hold&& other) noexcept;
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

    /// Releases. Never throws, never blocks on the network.
    ~hold();

    /// True if this object owns a hold, valid or lost; false if it is empty: not acquired, moved
    /// from or released.
    [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Whether the lock may still be believed. Reads the clock: no event needs to have been
    /// delivered, so a process that was stopped and wakes up late sees false at once. Cost: one
    /// clock read.
    [[nodiscard]] bool valid() const noexcept;

    /// Until when `valid()` stays true if no server answers any more. Moves forward with every
    /// answered quorum write while valid; the past once lost; `time_point::min()` when empty.
    [[nodiscard]] boottime_clock::time_point valid_until() const noexcept;

    /// Requested when the hold is lost, on the client's stop thread: no listener, handler or `log`
    /// delays it, only stop callbacks of earlier requests can. Not requested by a release. Empty
    /// hold: a token that can never be requested.
    [[nodiscard]] std::stop_token lost() const noexcept;

    /// Why `valid()` is false; loss::none while valid, and for an empty hold.
    [[nodiscard]] loss why_lost() const noexcept;

    /// Requested when another client asks for the lock back (revoke(), or Curator's Revoker), on
    /// the client's stop thread. The hold stays as it is: whether and when to release is the
    /// holder's choice. A request made while it still waited is there with the grant; one to a hold
    /// that is released within milliseconds may go unheard. Cost: one read for each change of the
    /// znode's data; none without. Empty hold: a token that can never be requested.
    [[nodiscard]] std::stop_token revocation_requested() const noexcept;

    /// The same for the whole life of the hold. Zero when empty.
    [[nodiscard]] latchkey::fencing_token fencing_token() const noexcept;

    /// The participant's znode, for example "/jobs/nightly/_c_0123...-lock-0000000007". Empty when
    /// empty.
    [[nodiscard]] std::string path() const;

    /// Of all its znodes: several for a multi_mutex, in the order of its paths; else path() alone.
    [[nodiscard]] std::vector<std::string> paths() const;

    /// What this hold entitles to; exclusive for everything but a shared_mutex.
    [[nodiscard]] lock_mode mode() const noexcept;

    /// Commits all operations, or none of them, and only if this hold still exists on the servers.
    ///
    /// - Sends: `multi[check(own znode), operations...]`, once: it is never sent again. A hold of
    ///   several znodes checks them all.
    /// - Cost: 1 request, 1 round trip.
    /// - Returns: one string an operation: the created path for creates, else empty.
    /// - Blocks: until answered, or until the connection is given up (at most two thirds of the
    ///   session timeout).
    /// - Errors: errc::hold_lost, not valid (nothing was sent), or the znode is gone (nothing was
    ///   applied). errc::indeterminate, the connection failed before the answer: it may have been
    ///   applied, or may yet be, while the hold's znode exists. errc::invalid_argument, a bad path,
    ///   no operation, or too large. Otherwise what the refused operation's errc says; `what()`
    ///   names the operation and its path, and nothing was applied.
    std::vector<std::string> transact(std::vector<operation> operations);
    std::vector<std::string> transact(std::vector<operation> operations, std::error_code& ec);

    /// The same without blocking; `handler` runs on the client's callback thread.
    void async_transact(std::vector<operation> operations, transact_handler handler);

    /// Gives the lock up and empties this object. The delete of the znode is sent, not waited for,
    /// and repeated until the znode is proven gone or the session is; the caller needs to do
    /// nothing, whatever the network does. Cost: 1 request that nobody waits for. Releasing an
    /// empty or lost hold is allowed.
    void release() noexcept;

    /// The same, and waits until the delete is confirmed (true), or the client can not confirm it
    /// within the client's close timeout (false: it goes on trying).
    bool release_and_wait() noexcept;

private:
    friend class hold_state;
    explicit hold(std::shared_ptr<hold_state> state) noexcept;

    std::shared_ptr<hold_state> state_;
};

}  // namespace latchkey
