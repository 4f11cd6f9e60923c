#pragma once

#include <latchkey/awaitable.hpp>
#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/export.hpp>
#include <latchkey/function.hpp>
#include <latchkey/lock_options.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey::inline v0 {

/// Lets a number of participants begin together and end together, round after round. Curator's
/// DistributedDoubleBarrier.
///
///     latchkey::double_barrier step(zk, "/simulation/step", 8);
///     step.enter();    // returns when all 8 have entered
///     compute();
///     step.leave();    // returns when all 8 have left
///
/// A participant is a znode below the path. When enough are present, the last one to arrive creates
/// the znode `ready` beside them. Each participant deletes its znode when it leaves, and waits
/// until the others have deleted theirs.
///
/// - Guarantee: a round begins only while all its participants are present with live sessions; the
///   servers check this in the same transaction. leave() returns true only when every Latchkey
///   participant of the round has called leave() itself. If the session of a participant ended
///   instead, all others get errc::participant_lost.
/// - Limits: Curator's participants only count how many are present. A round that a Curator
///   participant begins has no list of its participants, so no loss is reported. Delete the
///   directory only when it is unused.
/// - Rounds: a participant that arrives during a round waits for the next one, even if it took part
///   in the present round and was faster than the others. At most 1,000 participants in a round.
/// - Threads: any thread may call any member, but only one enter or leave call at a time.
/// - Lifetime: destroying an object that is inside gives up its place; the others see a loss.
class LATCHKEY_EXPORT double_barrier {
public:
    /// Receives true if the barrier was passed, false if the time was over or stop was requested.
    using wait_handler = move_only_function<void(std::error_code, bool)>;

    /// Sends no request. Errors: errc::invalid_argument for the path or the data, as mutex's
    /// constructor, and for a number of participants that is not 1 to 1,000.
    [[nodiscard]] double_barrier(const client& c,
                                 std::string path,
                                 std::uint32_t participants,
                                 lock_options options = {});
    double_barrier(const double_barrier&) = delete;
    double_barrier& operator=(const double_barrier&) = delete;
    ~double_barrier();

    /// Waits until `participants` are present and a round begins for all of them.
    ///
    /// - Blocks: until then. If the session is lost, the participant takes a new place in its next
    ///   session.
    /// - Returns false if stop was requested or the time was over. Then no other participant relied
    ///   on this one. Exception: if the servers cannot be reached for a second meanwhile, the place
    ///   is given up nevertheless, and the others may see a loss.
    /// - Errors: errc::invalid_argument if it is inside already; those of mutex::acquire().
    /// - Cost: 4 requests in 1 round trip. The last to arrive: 1 more, 2 round trips. Those that
    ///   wait: 2 more. When the round begins, each receives an event and reads 3 times. One of
    ///   those that wait also watches for arrivals: 4 reads for each arrival. In all, about 13 n
    ///   requests for n participants.
    [[nodiscard]] bool enter(std::stop_token stop = {}, std::error_code& ec = throws()) {
        return pass_within(true, no_timeout, std::move(stop), ec);
    }

    [[nodiscard]] bool enter(std::error_code& ec) { return pass_within(true, no_timeout, {}, ec); }

    /// Gives up this participant's place, and waits until all participants of the round have left.
    ///
    /// - Returns false if stop was requested or the time was over: the own place is given up, and
    ///   other participants may still be inside. While no server is reachable, they see that as a
    ///   loss. Returns true also if it looks only when a later round has begun: a loss in its own
    ///   round is not known then.
    /// - Errors: errc::invalid_argument if it is not inside. errc::session_lost if its own session
    ///   ended inside; the others see that as a loss. errc::participant_lost; not_authorized,
    ///   closed.
    /// - Cost: the last to leave, 5 requests in 2 round trips. Each other one watches a participant
    ///   that is still inside, chosen at random: 1 request more, then none until that one leaves,
    ///   then 3 or 4 again. That happens about ln(n) times.
    [[nodiscard]] bool leave(std::stop_token stop = {}, std::error_code& ec = throws()) {
        return pass_within(false, no_timeout, std::move(stop), ec);
    }

    [[nodiscard]] bool leave(std::error_code& ec) { return pass_within(false, no_timeout, {}, ec); }

    /// enter() and leave() with a timeout. If no server has answered in this time:
    /// errc::unreachable. The place is given up then, as after false.
    template <duration_like Duration>
    [[nodiscard]] bool enter_for(const Duration& timeout,
                                 std::stop_token stop = {},
                                 std::error_code& ec = throws()) {
        return pass_within(true, to_nanoseconds(timeout), std::move(stop), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] bool enter_for(const Duration& timeout, std::error_code& ec) {
        return pass_within(true, to_nanoseconds(timeout), {}, ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool enter_until(const TimePoint& deadline,
                                   std::stop_token stop = {},
                                   std::error_code& ec = throws()) {
        return pass_within(true, time_left(deadline), std::move(stop), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] bool leave_for(const Duration& timeout,
                                 std::stop_token stop = {},
                                 std::error_code& ec = throws()) {
        return pass_within(false, to_nanoseconds(timeout), std::move(stop), ec);
    }

    template <duration_like Duration>
    [[nodiscard]] bool leave_for(const Duration& timeout, std::error_code& ec) {
        return pass_within(false, to_nanoseconds(timeout), {}, ec);
    }

    template <time_point_like TimePoint>
    [[nodiscard]] bool leave_until(const TimePoint& deadline,
                                   std::stop_token stop = {},
                                   std::error_code& ec = throws()) {
        return pass_within(false, time_left(deadline), std::move(stop), ec);
    }

    /// enter() and leave() without blocking. `handler` is called once, on the client's callback
    /// thread.
    void async_enter(std::stop_token stop, wait_handler handler) {
        start(true, no_timeout, std::move(stop), std::move(handler));
    }

    template <duration_like Duration>
    void async_enter(const Duration& timeout, std::stop_token stop, wait_handler handler) {
        start(true, to_nanoseconds(timeout), std::move(stop), std::move(handler));
    }

    void async_leave(std::stop_token stop, wait_handler handler) {
        start(false, no_timeout, std::move(stop), std::move(handler));
    }

    template <duration_like Duration>
    void async_leave(const Duration& timeout, std::stop_token stop, wait_handler handler) {
        start(false, to_nanoseconds(timeout), std::move(stop), std::move(handler));
    }

    /// enter() and leave() for coroutines: see awaitable.hpp.
    [[nodiscard]] awaitable<bool> enter_async(std::stop_token stop = {}) {
        return begin(true, no_timeout, std::move(stop));
    }

    template <duration_like Duration>
    [[nodiscard]] awaitable<bool> enter_async(const Duration& timeout, std::stop_token stop = {}) {
        return begin(true, to_nanoseconds(timeout), std::move(stop));
    }

    [[nodiscard]] awaitable<bool> leave_async(std::stop_token stop = {}) {
        return begin(false, no_timeout, std::move(stop));
    }

    template <duration_like Duration>
    [[nodiscard]] awaitable<bool> leave_async(const Duration& timeout, std::stop_token stop = {}) {
        return begin(false, to_nanoseconds(timeout), std::move(stop));
    }

    /// Whether this participant has entered and not left, in a session that is not lost as far as
    /// this client knows.
    [[nodiscard]] bool inside() const noexcept;

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class LATCHKEY_HIDDEN impl;

    bool pass_within(bool enters,
                     std::chrono::nanoseconds timeout,
                     std::stop_token stop,
                     std::error_code& ec);
    void start(bool enters,
               std::chrono::nanoseconds timeout,
               std::stop_token stop,
               wait_handler handler);
    awaitable<bool> begin(bool enters, std::chrono::nanoseconds timeout, std::stop_token stop);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey::inline v0
