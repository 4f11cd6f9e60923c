#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/leader_options.hpp>
#include <latchkey/leadership.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey {

class leader_candidate;

/// A candidate in the election of a leader on a path: at most one leads at a time, the others
/// follow, in the order of arrival.
///
/// The path is a directory (a container znode, made when needed); each candidate is an ephemeral
/// sequential znode in it with the names and the data of Curator's LeaderLatch, which may take part
/// in the same election. The leader's record is the data of the path itself: if that is not empty
/// and not such a record it is somebody's, is left alone, and this candidate refuses to lead
/// (errc::invalid_argument).
///
/// - Guarantee: that of `leadership`. A candidate whose term has ended, or whose session was lost,
///   is a candidate again, at the tail of the queue, until it is closed.
/// - Order: `lost()` of the term is requested, then the listeners are told, then the znode is
///   deleted and somebody else can be elected: what a listener drains before it returns is drained
///   in time (unless the session is gone, which the others do not wait for).
/// - Cost: becoming the leader uncontested, 1 round trip (3 requests; one more that nobody waits
///   for writes the record); after another leader, 2 round trips (list and record, grant) once that
///   is gone, or 1 if that has handed over to it. A change of leader wakes one follower. A follower
///   costs two watches, and nothing else while it is not next.
/// - Threads: all members from any thread. Lifetime: may outlive the client, whose end closes it.
///
///     latchkey::leader_latch latch(zk, "/service/leader", {.id = "node-7", .data = my_address});
///     while (latchkey::leadership term = latch.wait(stop)) {
///         while (term.valid() && !term.hand_over_requested().stop_requested()) {
///             work(term.fencing_token());
///         }
///         if (term.valid()) {
///             latch.resign();
///         }
///     }
class leader_latch {
public:
    using wait_handler = std::function<void(std::error_code, latchkey::leadership)>;

    /// What became of a transfer.
    enum class transfer : std::uint8_t {
        accepted,      ///< the successor is next, and this leader has been asked to finish
        not_leading,   ///< this candidate does not lead, or is handing over already
        no_candidate,  ///< nobody of that id is there and takes part in transfers
        not_accepted,  ///< not in time: this candidate leads on. If the servers refused to withdraw
                       ///< the offer, the other candidate may still accept it
    };

    using transfer_handler = std::function<void(std::error_code, transfer)>;

    /// What became of a request to resign.
    enum class resignation : std::uint8_t {
        requested,     ///< the leader will hear of it
        no_leader,     ///< nobody leads
        not_possible,  ///< the leader takes no part in transfers
    };

    /// Whose functions run on the client's callback thread, one at a time, in the order of what
    /// they tell; any may be left out.
    struct listener {
        /// This candidate leads.
        std::function<void(const latchkey::leadership&)> elected = {};
        /// The term is over. Told exactly once after each `elected`, unless a silent close() comes
        /// between.
        std::function<void(const latchkey::leadership&, loss why)> lost = {};
        /// The servers refuse this candidate, or the path cannot be led on. It tries again by
        /// itself, after a pause that grows up to 30 seconds.
        std::function<void(const error& why)> refused = {};
        /// This candidate has been chosen to be the next: it leads as soon as the present leader
        /// has finished, unless that goes wrong. Time to get ready.
        std::function<void()> chosen = {};
    };

    /// How close() ends a term: whether the listeners are told.
    enum class closing : std::uint8_t { silent, notifying };

    /// No request is sent. Errors: errc::invalid_argument names the path, the id or the data.
    leader_latch(client& c, std::string path, leader_options options = {});
    leader_latch(const leader_latch&) = delete;
    leader_latch& operator=(const leader_latch&) = delete;

    /// close(silent).
    ~leader_latch();

    /// Becomes a candidate; returns at once, also before any server is reachable. Again: nothing.
    /// Errors: errc::closed after close(), errc::forked.
    void start();

    /// Starts, and waits until this candidate leads.
    ///
    /// - Returns: a term that was valid; empty when `stop` is requested, or the time is over. Being
    ///   a candidate does not end with that.
    /// - Blocks: as long as it takes. An interruption point of Boost.Thread.
    /// - Errors: why this candidate was refused meanwhile (errc::not_authorized, invalid_argument,
    ///   sequence_exhausted, malformed_participant, quota_exceeded, ephemeral_parent; it tries
    ///   again all the same); closed, by close() or with the client; authentication_failed, forked,
    ///   would_deadlock.
    [[nodiscard]] latchkey::leadership wait(std::stop_token stop = {});
    [[nodiscard]] latchkey::leadership wait(std::stop_token stop, std::error_code& ec);

    /// The same with one total deadline that covers connecting, retries and waiting alike.
    template <duration_like Duration>
    [[nodiscard]] latchkey::leadership wait_for(const Duration& limit, std::stop_token stop = {}) {
        return wait_within(to_nanoseconds(limit), std::move(stop));
    }

    template <time_point_like TimePoint>
    [[nodiscard]] latchkey::leadership wait_until(const TimePoint& deadline,
                                                  std::stop_token stop = {}) {
        return wait_within(time_left(deadline), std::move(stop));
    }

    /// The same without blocking. `handler` is called exactly once, on the client's callback
    /// thread. A limit of nanoseconds::max() is none.
    void async_wait(std::chrono::nanoseconds limit, std::stop_token stop, wait_handler handler);

    /// Whether this candidate leads now: leadership().valid(). Reads the clock, and asks nobody.
    [[nodiscard]] bool is_leader() const noexcept;

    /// The present term; empty if there is none. One that has just been lost may still be told.
    [[nodiscard]] latchkey::leadership leadership() const;

    /// Tells `l` what happens from now on; `elected` first if this candidate leads already. Errors:
    /// errc::forked.
    subscription subscribe(listener l);

    /// Gives the leadership up (loss::resigned) and goes to the tail of the queue; with nobody else
    /// in it, leads again in a new term. is_leader() is false when it returns; see `Order` for what
    /// follows. No effect while it does not lead. Cost: 2 requests that nobody waits for.
    void resign() noexcept;

    /// Offers the leadership to a candidate of that id, for `limit`, but at most a sixth of the
    /// session timeout. If it accepts it is next in the queue, ahead of all others, and this term's
    /// hand_over_requested() is requested: finish, then resign() or close(); the successor leads
    /// then, without waiting for any timeout. After leader_preference::drain it is resigned for
    /// you. One at a time; others wait.
    ///
    /// - Cost: 2 requests, one for each candidate that takes part, then 4 in 4 round trips.
    /// - Blocks: until the other one has accepted, or did not. An interruption point of
    ///   Boost.Thread, after which it may still be accepted.
    /// - Errors: errc::invalid_argument if this latch has no leader_preference; closed, forked,
    ///   would_deadlock.
    template <duration_like Duration>
    transfer transfer_to(const std::string& id, const Duration& limit) {
        return transfer_within(id, to_nanoseconds(limit));
    }

    /// The same without blocking; `handler` runs once, on the client's callback thread.
    void async_transfer_to(std::string id,
                           std::chrono::nanoseconds limit,
                           transfer_handler handler);

    /// Asks the leader on `path`, whoever it is, to hand over: to a candidate of the id `to`, as if
    /// it had called transfer_to(); without one, to whoever is next, as if it had been asked to
    /// finish. It may be that nothing follows: that candidate may not be there.
    ///
    /// - Cost: 3 requests, 2 round trips. Blocks: until answered.
    /// - Errors: errc::invalid_argument; unreachable (within the session timeout; it may have been
    ///   asked), not_authorized, closed, forked, would_deadlock.
    static resignation request_resignation(client& c,
                                           const std::string& path,
                                           const std::optional<std::string>& to = {});

    /// Is no candidate any more, for good; gives up the leadership if it has it (loss::resigned).
    /// Whoever waits gets errc::closed. is_leader() is false when it returns; the deletion of the
    /// znode is sent when the listeners have returned, and repeated until it is gone, or the
    /// session. Silent: listeners are told nothing more, not even what is under way. May be called
    /// again, and on the callback thread.
    void close(closing how = closing::silent) noexcept;

    [[nodiscard]] const std::string& path() const noexcept;

    /// What this candidate calls itself.
    [[nodiscard]] const std::string& id() const noexcept;

private:
    latchkey::leadership wait_within(std::chrono::nanoseconds limit, std::stop_token stop);
    transfer transfer_within(const std::string& id, std::chrono::nanoseconds limit);

    std::shared_ptr<leader_candidate> candidacy_;
};

}  // namespace latchkey
