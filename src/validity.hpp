#pragma once

#include <latchkey/boottime_clock.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace latchkey {

/// How far behind the servers' idea of a session's last sign of life ours may be.
///
/// A follower tells the leader of its clients' activity with its ping replies, every half tick.
/// What it heard since its last one may be lost with it, and before that the client may have been
/// silent: for a third of the timeout while it was idle, for a sixth while something is held. With
/// the tick at most half the timeout, ZooKeeper's default lower bound, the silences of an idle
/// client add up to half the timeout, and those of a holder to a third; a longer tick costs in
/// proportion.
/// What the network holds back comes on top of a silence. So does a leader that stood still: what
/// was sent to it meanwhile it answers, and then it may end the session all the same, because it
/// has not heard yet what its followers have. Therefore a write that ends a silence and is answered
/// late proves nothing; only one that is sent after that answer does.
enum class silence : std::uint8_t { none, ended, ended_late };

[[nodiscard]] constexpr std::chrono::nanoseconds validity_margin(std::chrono::nanoseconds timeout,
                                                                 std::chrono::nanoseconds tick,
                                                                 silence s) noexcept {
    const int tenths = s == silence::none ? 4 : s == silence::ended ? 5 : 6;
    return std::max(timeout, tick * 2) * tenths / 10;
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
            believed_until_ = grants_until_ = time_point::min();
        }
        publish();
    }

    /// The servers have answered, at `answered`, what was sent at `sent`: they have heard of the
    /// client in between. On the loop.
    void heard(time_point sent, time_point answered) noexcept {
        if (unheard() && sent >= awake_since_) {
            heard_since_ = answered;
        }
    }

    /// A quorum write was. On the loop.
    void proven(time_point sent, time_point answered) noexcept {
        heard(sent, answered);
        if (sent <= proof_) {
            return;
        }
        if (told_since_ == time_point::max() && !unheard() && sent - told() >= heard_since_) {
            told_since_ = answered;
        }
        // How much longer than ever it took: so long the network may have held it back.
        const duration took = answered - sent;
        const duration late = std::max(took - quickest_, duration{0});
        quickest_ = answered_ == time_point::min() ? took : std::min(quickest_, took);
        // A little more than a holder's heartbeats are apart.
        const duration often = timeout_ / 16 * 3;
        const bool first = proof_ == time_point::min();
        if (first || sent - proof_ + late > often) {
            if (late > timeout_ / 64) {
                silence_ = silence::ended_late;
                // Not twice in a row: then that is how fast the servers are.
                const bool quiet = sent - proof_ > often && sent - answered_ > timeout_ / 16;
                if (first || (quiet && proof_ >= doubted_until_)) {
                    doubted_until_ = answered;
                }
            } else if (sent - told() >= silent_until_) {
                silence_ = silence::ended;
            }
            silent_until_ = std::max(silent_until_, answered);
        }
        proof_ = sent;
        answered_ = answered;
        publish();
    }

    /// The process did not run until now, and the pings that an idle client owes were not sent: the
    /// servers may be about to end the session, and a write that they still answer changes nothing
    /// about that until the leader has been told of it. What it was told before counts. On the
    /// loop.
    void stood_still(time_point until) noexcept {
        if (!told_later_) {
            told_later_ = earlier{proof_, answered_};
        }
        awake_since_ = until;
        heard_since_ = time_point::max();
        told_since_ = time_point::max();
    }

    /// Nothing was heard for longer than pings are apart, until now. What was sent meanwhile may
    /// have been held back by the network, and may have arrived only now, all of it at once: the
    /// leader need not have been told of any of it. On the loop.
    void heard_again(time_point until) noexcept {
        stood_still(until);
        silent_until_ = until;
        silence_ = silence::ended_late;
    }

    /// Whether nothing was answered yet of what was sent since then: it may be on its way still,
    /// and the servers know nothing of it. On the loop.
    [[nodiscard]] bool unheard() const noexcept { return heard_since_ == time_point::max(); }

    /// Until when what is granted now may be believed: at most until the deadline, and after an
    /// interruption for less. A server that lags tells the leader late, however long ago it heard
    /// of us; but then it answers late as well: a write that it was given half a tick after that
    /// sign of life is answered behind the leader's ping, and so behind what it told then, and one
    /// that is sent after that answer finds a leader who knows. On the loop.
    [[nodiscard]] time_point grants_until() const noexcept {
        return std::min(grants_until_, deadline());
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
    /// A proof, and when it was answered: the servers had it by then.
    struct earlier {
        time_point sent;
        time_point answered;
    };

    /// Within this time what a server has heard is surely told to the leader.
    [[nodiscard]] duration told() const noexcept { return std::max(timeout_ / 4, tick_ / 2); }

    void publish() noexcept {
        if (ended_ || proof_ == time_point::min() || timeout_ == duration::max()) {
            believed_until_ = time_point::min();
        } else {
            const auto is_told = [&](time_point heard) { return proof_ - told() >= heard; };
            if (is_told(heard_since_) && proof_ >= doubted_until_) {
                const silence s = is_told(silent_until_) ? silence::none : silence_;
                believe(proof_ + timeout_ - validity_margin(timeout_, tick_, s),
                        proof_ >= told_since_);
                told_later_.reset();
            } else if (told_later_ && told_later_->sent != time_point::min() &&
                       is_told(told_later_->answered)) {
                // The leader has been told of that one, or the newest would not be answered.
                believe(told_later_->sent + timeout_ * 9 / 10, true);
                told_later_.reset();
            }
        }
        deadline_.store(believed_until_.time_since_epoch().count(), std::memory_order_release);
    }

    void believe(time_point until, bool grants) noexcept {
        believed_until_ = std::max(believed_until_, until);
        grants_until_ = grants ? std::max(grants_until_, until) : grants_until_;
    }

    const duration tick_;
    duration timeout_ = duration::max();
    time_point proof_ = time_point::min();
    time_point answered_ = time_point::min();      ///< when that was
    time_point silent_until_ = time_point::min();  ///< the end of the last silence before `proof_`
    silence silence_ = silence::ended;
    time_point doubted_until_ = time_point::min();  ///< a write has to be sent then, or later
    duration quickest_{0};  ///< from a request to its answer, once there was one
    time_point awake_since_ = time_point::min();  ///< the end of the last interruption
    time_point heard_since_ = time_point::min();  ///< the servers have, for sure
    time_point told_since_ = time_point::min();   ///< so has the leader of any write sent since
    std::optional<earlier> told_later_;           ///< the last proof before an interruption
    time_point believed_until_ = time_point::min();
    time_point grants_until_ = time_point::min();
    bool ended_ = false;
    std::atomic<duration::rep> deadline_{time_point::min().time_since_epoch().count()};
};

}  // namespace latchkey
