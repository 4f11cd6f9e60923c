#pragma once

#include <latchkey/boottime_clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace latchkey {

/// How far behind the servers' idea of a session's last sign of life ours may be.
///
/// A follower tells the leader of its clients' activity with its ping replies, every half tick.
/// What it heard since its last one may be lost with it, and before that the client may have been
/// silent: for a third of the timeout while it was idle, for a sixth while something is held. With
/// the tick at most half the timeout, ZooKeeper's default lower bound, the silences of an idle
/// client add up to half the timeout, and those of a holder to a third; a longer tick costs in
/// proportion.
[[nodiscard]] constexpr std::chrono::nanoseconds validity_margin(std::chrono::nanoseconds timeout,
                                                                 std::chrono::nanoseconds tick,
                                                                 bool after_silence) noexcept {
    return after_silence ? std::max(timeout / 2, tick) : std::max(timeout * 2 / 5, tick * 4 / 5);
}

/// Whether enough is left of the timeout to be told of the next proof in time.
[[nodiscard]] constexpr bool believable_at_all(std::chrono::nanoseconds timeout,
                                               std::chrono::nanoseconds tick) noexcept {
    return timeout > tick * 5 / 4;
}

/// Until when the holds of one session may be believed. Written on the loop, read by any thread.
///
/// deadline = when the newest answered quorum write was sent + the smallest timeout negotiated -
/// margin. Only a write proves a quorum: a read, or a `sync` of a deposed leader, is answered by
/// servers that have been left behind.
class validity {
public:
    using time_point = boottime_clock::time_point;
    using duration = boottime_clock::duration;

    explicit validity(duration tick) noexcept : tick_(tick) {}

    /// The servers negotiated `timeout` with this connection. On the loop.
    void negotiated(duration timeout) noexcept {
        if (timeout < timeout_) {
            timeout_ = timeout;
            silent_until_ = proof_;  // what was often enough may not be any more
            believed_until_ = time_point::min();
        }
        publish();
    }

    /// A quorum write sent at `sent` was answered. On the loop.
    void proven(time_point sent) noexcept {
        if (sent <= proof_) {
            return;
        }
        if (held_back_until_ <= proof_ && proof_ < awake_since_ && awake_since_ <= sent) {
            before_standstill_ = proof_;
        }
        // A little more than a holder's heartbeats are apart.
        if (proof_ == time_point::min() || sent - proof_ > timeout_ / 16 * 3) {
            silent_until_ = std::max(silent_until_, sent);
        }
        proof_ = sent;
        publish();
    }

    /// The process did not run until now, and the pings that an idle client owes were not sent: the
    /// servers may be about to end the session, and a write that they still answer changes nothing
    /// about that until the leader has been told of it. What it was told before counts. On the
    /// loop.
    void stood_still(time_point until) noexcept { awake_since_ = until; }

    /// Nothing was heard for longer than pings are apart, until now. What was sent meanwhile may
    /// have been held back by the network, and may have arrived only now, all of it at once: the
    /// leader need not have been told of any of it. On the loop.
    void heard_again(time_point until) noexcept {
        before_standstill_ = proof_;
        awake_since_ = silent_until_ = held_back_until_ = until;
    }

    /// Nothing is believed any more, for good. On the loop.
    void end() noexcept {
        ended_ = true;
        publish();
    }

    /// Any thread. A caller that compares reads the clock first: the deadline only helps a clock
    /// read before it.
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load(std::memory_order_acquire)));
    }

    /// The smallest timeout negotiated. On the loop.
    [[nodiscard]] duration timeout() const noexcept { return timeout_; }

    /// When the newest answered quorum write was sent. On the loop.
    [[nodiscard]] time_point proof() const noexcept { return proof_; }

private:
    void publish() noexcept {
        const bool proven = !ended_ && proof_ != time_point::min() && timeout_ != duration::max();
        if (!proven) {
            believed_until_ = time_point::min();
        } else {
            // A silence counts until its end has surely been told to the leader.
            const duration told = std::max(timeout_ / 4, tick_ / 2);
            const bool after_silence = proof_ - silent_until_ < told;
            if (!after_silence || proof_ >= awake_since_ + told) {
                believed_until_ =
                    proof_ + timeout_ - validity_margin(timeout_, tick_, after_silence);
            } else if (before_standstill_ != time_point::min() &&
                       proof_ >= before_standstill_ + told) {
                // The leader has been told of that one, or the newest would not be answered.
                believed_until_ = std::max(believed_until_, before_standstill_ + timeout_ * 9 / 10);
            }
        }
        deadline_.store(believed_until_.time_since_epoch().count(), std::memory_order_release);
    }

    const duration tick_;
    duration timeout_ = duration::max();
    time_point proof_ = time_point::min();
    time_point silent_until_ = time_point::min();  ///< the end of the last silence before `proof_`
    time_point awake_since_ = time_point::min();   ///< the end of the last standstill
    time_point held_back_until_ = time_point::min();    ///< the end of one of the network
    time_point before_standstill_ = time_point::min();  ///< the last proof before it
    time_point believed_until_ = time_point::min();
    bool ended_ = false;
    std::atomic<duration::rep> deadline_{time_point::min().time_since_epoch().count()};
};

}  // namespace latchkey
