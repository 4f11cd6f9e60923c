#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/function.hpp>
#include <latchkey/leader_options.hpp>
#include <latchkey/leadership.hpp>
#include <latchkey/wait_forms.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey::inline v0 {

class leader_candidate;

/// A candidate in the election of a leader on a path. At most one candidate leads at a time; the
/// others follow in the order of arrival.
///
///     latchkey::leader_latch latch(zk, "/service/leader", {.id = "node-7", .data = my_address});
///     while (!stop.stop_requested()) {
///         const leadership term = latch.wait(stop);
///         while (term.valid() && !term.hand_over_requested().stop_requested()) {
///             work(term.token());
///         }
///         if (term.valid()) {
///             latch.resign();
///         }
///     }
///
/// - Guarantee: that of `leadership`. A candidate whose term has ended, or whose session was lost,
///   is a candidate again at the tail of the queue, until it is closed.
/// - End of a term: `lost()` is requested, then the listeners are notified, then the znode is
///   deleted. Another candidate can be elected only after that, so a listener can finish its work
///   first. If the session is gone, the servers do not wait for the listeners.
/// - wait() calls start() and waits until this candidate leads. It returns a term that was valid;
///   an empty one when `stop` is requested or the time is over. This object remains a candidate
///   then. Errors: the reason if this candidate is refused (errc::not_authorized, invalid_argument,
///   sequence_exhausted, malformed_participant, quota_exceeded, ephemeral_parent); it continues to
///   try. errc::unreachable if the servers have not confirmed this candidate within the time;
///   closed after close() of the latch or the client; authentication_failed, forked,
///   would_deadlock.
/// - Cost of becoming the leader: 3 requests in 1 round trip if there is none, then 1 request for
///   the record and, after 10 ms, 1 read, which no call waits for. After another leader: 2 round
///   trips when it is gone (list and record, grant), or 1 if it has handed over to this candidate.
/// - Cost of waiting: two watches, and nothing else while the candidate is not next. A change of
///   leader wakes one candidate.
/// - Threads: any thread may call any member. Lifetime: may outlive the client; closing the client
///   closes the latch.
/// - Znodes: the path is a directory, a container znode that is created when needed. Each candidate
///   is an ephemeral sequential znode in it, with the names and data of Curator's LeaderLatch,
///   which may take part in the same election. The leader's record is the data of the path itself.
///   If that is other data, it is left alone, and this candidate does not lead
///   (errc::invalid_argument).
class LATCHKEY_EXPORT leader_latch : public wait_forms<leader_latch, leadership> {
public:
    /// The result of a transfer.
    enum class transfer : std::uint8_t {
        accepted,      ///< the successor is next, and this leader has been asked to finish
        not_leading,   ///< this candidate no longer leads, or hands over to another one already
        no_candidate,  ///< no candidate with that id is there and takes part in transfers
        not_accepted,  ///< not in time; this candidate still leads. If the offer could not be
                       ///< withdrawn, the other candidate may still accept it. If the queue could
                       ///< not be read, it may have accepted it
    };

    using transfer_handler = move_only_function<void(std::error_code, transfer)>;

    /// The result of a request to resign.
    enum class resignation : std::uint8_t {
        requested,     ///< the leader will be notified
        no_leader,     ///< there is no leader
        not_possible,  ///< the leader takes no part in transfers, so it cannot be asked
    };

    /// Functions that the client's callback thread calls, one at a time, in the order of the
    /// events. Each may be empty.
    struct listener {
        /// This candidate leads.
        std::function<void(const leadership&)> elected = {};
        /// The term is over. Called exactly once after each `elected`, unless a silent close()
        /// comes between.
        std::function<void(const leadership&, loss_reason why)> lost = {};
        /// The servers refuse this candidate, or it cannot lead on this path. It tries again by
        /// itself, after pauses that grow up to 30 seconds.
        std::function<void(const error& why)> refused = {};
        /// The leader has chosen this candidate as its successor: it leads as soon as that leader
        /// has finished, unless that fails. Time to prepare.
        std::function<void()> chosen = {};
    };

    /// How close() ends a term: with or without notifying the listeners.
    enum class closing : std::uint8_t { silent, notifying };

    /// Sends no request. Errors: errc::invalid_argument names the path, the id, the data or the
    /// preference.
    [[nodiscard]] leader_latch(const client& c, std::string path, leader_options options = {});
    leader_latch(const leader_latch&) = delete;
    leader_latch& operator=(const leader_latch&) = delete;

    /// Calls close(closing::silent).
    ~leader_latch();

    /// Becomes a candidate. Returns at once, even if no server can be reached. Calling it again has
    /// no effect. Errors: errc::closed after close(), errc::forked.
    void start();

    /// Whether this candidate leads now: term().valid(). Reads the clock and sends no
    /// request.
    [[nodiscard]] bool is_leader() const noexcept;

    /// The present term; empty if there is none. A term that was just lost is still returned until
    /// its listeners have been notified.
    [[nodiscard]] leadership term() const;

    /// Notifies `l` from now on; of `elected` first, if this candidate leads already. Errors:
    /// errc::forked.
    subscription on_change(listener l);

    /// Gives up the leadership (loss_reason::resigned) and goes to the tail of the queue. If the
    /// queue is empty, the candidate leads again, in a new term. is_leader() is false when this
    /// returns; see `End of a term` above for what follows. No effect while it does not lead. Cost:
    /// 2 requests that no call waits for.
    void resign() noexcept;

    /// Offers the leadership to the candidate with that id, for `timeout`, but for a sixth of the
    /// session timeout at most. If the candidate accepts, it is next in the queue, ahead of all
    /// others, and this term's hand_over_requested() is requested. Finish, then call resign() or
    /// close(): the successor leads then, without waiting for a timeout. After
    /// leader_preference::drain the latch resigns by itself. One transfer is made at a time; others
    /// wait.
    ///
    /// - Blocks: until the other candidate has accepted or not. Boost.Thread's interrupt() ends the
    ///   wait; the offer may still be accepted then.
    /// - Errors: errc::invalid_argument if this latch has no leader_preference; closed, forked,
    ///   would_deadlock.
    /// - Cost: 2 requests, one for each candidate that takes part, then 4 requests in 4 round
    ///   trips.
    template <duration_like Duration>
    [[nodiscard]] transfer transfer_to(const std::string& id,
                                       const Duration& timeout,
                                       std::error_code& ec = throws()) {
        return transfer_within(id, to_nanoseconds(timeout), ec);
    }

    /// transfer_to() without blocking. `handler` is called once, on the client's callback thread.
    template <duration_like Duration>
    void async_transfer_to(std::string id, const Duration& timeout, transfer_handler handler) {
        start_transfer(std::move(id), to_nanoseconds(timeout), std::move(handler));
    }

    /// transfer_to() for coroutines: see awaitable.hpp. This object must live until the coroutine
    /// waits.
    template <duration_like Duration>
    [[nodiscard]] awaitable<transfer> transfer_to_async(std::string id, const Duration& timeout) {
        return awaitable<transfer>(
            [this, id = std::move(id), limit = to_nanoseconds(timeout)](
                const std::stop_token&, awaitable_handler<transfer> handler) mutable {
                start_transfer(std::move(id), limit, std::move(handler));
            });
    }

    /// Asks the leader on `path`, whichever candidate that is, to hand over: to the candidate with
    /// the id `to`, as if it had called transfer_to(). Without `to`, it is asked to finish, and the
    /// next in the queue follows. The request may have no effect, for example if that candidate is
    /// not there.
    ///
    /// - Cost: 3 requests, 2 round trips; more while it hands over. Blocks: until answered.
    /// - Errors: errc::invalid_argument; unreachable (no answer within the session timeout; the
    ///   leader may have been asked), not_authorized, closed, forked, would_deadlock.
    static resignation request_resignation(const client& c,
                                           const std::string& path,
                                           const std::optional<std::string>& to = {},
                                           std::error_code& ec = throws());

    /// Ends this candidate for good, and gives up the leadership if it has it
    /// (loss_reason::resigned). Calls that wait get errc::closed. is_leader() is false when this
    /// returns. The delete of the znode is sent when the listeners have returned, and repeated
    /// until the znode or its session is gone. After a silent close no listener is called any more.
    /// May be called again, and on the callback thread.
    void close(closing how = closing::silent) noexcept;

    [[nodiscard]] const std::string& path() const noexcept;

    /// The id of this candidate.
    [[nodiscard]] const std::string& id() const noexcept;

private:
    friend wait_forms<leader_latch, leadership>;

    leadership wait_within(std::chrono::nanoseconds timeout,
                           std::stop_token stop,
                           std::error_code& ec);
    void start_wait(std::chrono::nanoseconds timeout, std::stop_token stop, wait_handler handler);
    transfer transfer_within(const std::string& id,
                             std::chrono::nanoseconds timeout,
                             std::error_code& ec);
    void start_transfer(std::string id, std::chrono::nanoseconds timeout, transfer_handler handler);

    std::shared_ptr<leader_candidate> candidate_;
};

}  // namespace latchkey::inline v0
