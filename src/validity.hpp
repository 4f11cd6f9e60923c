#pragma once

#include <latchkey/boottime_clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace latchkey {

/// How far behind the servers' idea of a session's last sign of life ours may be.
///
/// A follower tells the leader of its clients' activity with its ping replies, every half tick, and
/// a client may have been silent for a third of the timeout before the write that we count from.
/// 2/5 covers both as long as the tick is at most half the timeout, ZooKeeper's default lower
/// bound; a longer tick costs in proportion.
[[nodiscard]] constexpr std::chrono::nanoseconds validity_margin(
    std::chrono::nanoseconds timeout, std::chrono::nanoseconds tick) noexcept {
    return std::max(timeout * 2 / 5, tick * 4 / 5);
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
        timeout_ = std::min(timeout_, timeout);
        publish();
    }

    /// A quorum write sent at `sent` was answered. On the loop.
    void proven(time_point sent) noexcept {
        proof_ = std::max(proof_, sent);
        publish();
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
        const time_point until =
            proven ? proof_ + timeout_ - validity_margin(timeout_, tick_) : time_point::min();
        deadline_.store(until.time_since_epoch().count(), std::memory_order_release);
    }

    const duration tick_;
    duration timeout_ = duration::max();
    time_point proof_ = time_point::min();
    bool ended_ = false;
    std::atomic<duration::rep> deadline_{time_point::min().time_since_epoch().count()};
};

}  // namespace latchkey
