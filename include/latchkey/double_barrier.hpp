#pragma once

#include <latchkey/client.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>
#include <latchkey/mutex_options.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

namespace latchkey {

/// Lets a number of participants begin together and end together, round after round: Curator's
/// DistributedDoubleBarrier.
///
/// A participant is a znode below the path. When enough are there, the one that came last makes
/// the znode `ready` beside them; each deletes its own when it leaves, and waits for the others'.
///
/// - Guarantee: a round begins only at a moment at which all its participants are there, each with
///   a session that lives: the servers check it in the same transaction. When leave() has returned
///   true, every Latchkey participant of the round has left by itself; that one's session
///   ended instead is errc::participant_lost, for each of the others.
/// - Limits: Curator's participants count how many are there and look no closer, and a
///   round that one of them opens has no list of its participants: nobody is told of a loss then.
/// - Rounds: who comes while a round is on waits for the next one, also if it is the same
///   participant again, that was quicker than the others. 1,000 take part in one at most.
/// - Threads: all members from any thread; one call of enter or leave at a time.
/// - Lifetime: destroying an object that is inside gives its place up; the others are told as of a
///   loss.
class double_barrier {
public:
    /// True when the barrier was passed; false when the time was over or a stop requested.
    using handler = std::function<void(std::error_code, bool)>;

    /// No request is sent. Errors: errc::invalid_argument for the path or the data, as mutex's, and
    /// for a number of participants that is not 1 to 1,000.
    double_barrier(client& c,
                   std::string path,
                   std::uint32_t participants,
                   mutex_options options = {});
    double_barrier(const double_barrier&) = delete;
    double_barrier& operator=(const double_barrier&) = delete;
    ~double_barrier();

    /// Waits until `participants` are there, and one round begins for all of them.
    ///
    /// - Cost: 4 requests in 1 round trip; the last to come 1 more, 2 round trips; those that wait
    ///   2 more. At the beginning each gets an event, and reads 3 times. One of those that wait
    ///   hears of everybody who comes: 4 reads each time. n participants, some 13 n requests.
    /// - Blocks: until then. After a loss of the session it takes its place again, with the next.
    /// - False: nobody has counted on this participant; if the others cannot be asked for
    ///   a second, its place is given up all the same, which they are told of as of a loss.
    /// - Errors: errc::invalid_argument if it is inside already; mutex::acquire()'s.
    bool enter(std::stop_token stop = {});

    /// Gives the own place up, and waits until all of the round have.
    ///
    /// - Cost: 5 requests, 2 round trips for the last one. Otherwise one of those that are left is
    ///   watched, at random: 1 request more, then nothing until it goes, and 3 or 4 again; about
    ///   ln(n) times.
    /// - False: the own place is given up, others may be inside.
    /// - Errors: errc::invalid_argument if it is not inside; errc::session_lost, the own session
    ///   ended inside, which the others are told; errc::participant_lost; not_authorized, closed.
    bool leave(std::stop_token stop = {});

    /// The same with one total deadline.
    template <duration_like Duration>
    bool enter_for(const Duration& limit, std::stop_token stop = {}) {
        return enter_within(to_nanoseconds(limit), std::move(stop));
    }

    template <time_point_like TimePoint>
    bool enter_until(const TimePoint& deadline, std::stop_token stop = {}) {
        return enter_within(time_left(deadline), std::move(stop));
    }

    template <duration_like Duration>
    bool leave_for(const Duration& limit, std::stop_token stop = {}) {
        return leave_within(to_nanoseconds(limit), std::move(stop));
    }

    template <time_point_like TimePoint>
    bool leave_until(const TimePoint& deadline, std::stop_token stop = {}) {
        return leave_within(time_left(deadline), std::move(stop));
    }

    /// The same without blocking; `h` is called once, on the client's callback thread.
    void async_enter(std::chrono::nanoseconds limit, std::stop_token stop, handler h);
    void async_leave(std::chrono::nanoseconds limit, std::stop_token stop, handler h);

    /// Entered and not left, in a session that has not been lost as far as this client knows.
    [[nodiscard]] bool inside() const noexcept;

    [[nodiscard]] const std::string& path() const noexcept;

private:
    class impl;

    bool enter_within(std::chrono::nanoseconds limit, std::stop_token stop);
    bool leave_within(std::chrono::nanoseconds limit, std::stop_token stop);

    std::shared_ptr<impl> impl_;
};

}  // namespace latchkey
