#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/loss_reason.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::inline v0 {

/// What is assumed about the servers. docs/design/validity.md derives the rules.
struct validity_assumptions {
    using duration = boottime_clock::duration;

    duration tick{};      ///< the servers' tickTime; 0: at most half the session timeout
    double drift = 0.01;  ///< how far every clock, ours and the servers', may be off

    /// How long, by our clock, the leader keeps a session after a sign of life.
    [[nodiscard]] constexpr duration kept(duration timeout) const noexcept {
        return duration(static_cast<duration::rep>(static_cast<double>(timeout.count()) *
                                                   (1 - drift) / (1 + drift)));
    }

    /// The time, by our clock, within which the leader asks every follower once which clients it
    /// has heard from.
    [[nodiscard]] constexpr duration report_period(duration timeout) const noexcept {
        const duration half_tick = tick > duration{} ? tick / 2 : timeout / 4;
        return duration(static_cast<duration::rep>(static_cast<double>(half_tick.count()) *
                                                   (1 + drift) / (1 - drift)) +
                        1);
    }

    /// Whether the timeout is long enough for holds that heartbeats can prolong.
    [[nodiscard]] constexpr bool suffice(duration timeout) const noexcept {
        return kept(timeout) - report_period(timeout) > timeout / 8 * 3;
    }
};

/// Until when the holds of one session are valid. Written on the loop, read by any thread.
///
/// Any answered request is a *contact*: the follower has heard from the client, not before the
/// request was sent. The leader learns of it with the follower's next report, for which it asks
/// every `report_period`. Let two writes be answered, the second one sent after the answer to the
/// first. Then the leader knew of every contact that was answered a report period before the first
/// write was sent, and the session was alive. A connect is a contact about which the leader itself
/// is asked: one answered write proves it.
///
///     deadline = when the newest contact that is known to the leader was sent + kept(timeout)
///
/// Only a write counts. A read or a `sync` is also answered by servers that have been left behind.
class validity {
public:
    using time_point = boottime_clock::time_point;
    using duration = boottime_clock::duration;

    /// What is known when a request is submitted. answered() receives it with the answer.
    struct submission {
        time_point at = time_point::min();
        /// Contacts sent by this time are known to the leader when it commits this write ...
        time_point reported = time_point::min();
        /// ... and contacts sent by this time were known when it committed an earlier write, which
        /// was answered already.
        time_point proven = time_point::min();
        std::uint64_t connection = 0;
    };

    explicit validity(const validity_assumptions& a) noexcept : assumptions_(a) {}

    /// The session has a new connection. It was begun at `begun`, before anything was sent on it,
    /// and the servers granted `timeout`. On the loop.
    void connected(time_point begun, time_point now, duration timeout) noexcept {
        if (timeout < timeout_) {
            // The leader counts the new timeout from this connect on: an earlier deadline may be
            // too late.
            timeout_ = timeout;
            kept_ = assumptions_.kept(timeout);
            report_period_ = assumptions_.report_period(timeout);
            deadline_.store(std::min(deadline(), begun + kept_).time_since_epoch().count(),
                            std::memory_order_release);
        }
        // What another follower has heard may be lost with it.
        ++connection_;
        contacts_ = 0;
        begun_ = proven_ = begun;
        quickest_ = std::min(quickest_, now - begun);
    }

    /// On the loop.
    [[nodiscard]] submission submitted(time_point now) const noexcept {
        submission s{now, begun_, proven_, connection_};
        for (std::size_t i = 0; i < contacts_; ++i) {
            if (log_[i].answered <= now - report_period_) {
                s.reported = std::max(s.reported, log_[i].sent);
            }
        }
        return s;
    }

    /// A server has answered on the present connection. On the loop.
    void answered(submission s, time_point now, bool quorum_write) noexcept {
        if (s.connection != connection_) {
            // The request was kept back until there was this connection.
            s.reported = s.proven = begun_;
        }
        add({s.at, now});
        if (!quorum_write) {
            return;
        }
        believe(s.proven + kept_);
        const duration took = now - s.at;
        if (took <= quickest_ + timeout_ / 64) {
            // The leader was not stalled before this write, or not for long. So one write is enough
            // until a heartbeat can follow it.
            believe(std::min(s.reported + kept_, s.at + timeout_ / 8 + timeout_ / 16));
        }
        quickest_ = std::min(quickest_, took);
        proven_ = std::max(proven_, s.reported);
        newest_write_ = std::max(newest_write_, s.at);
    }

    /// Ends the validity for good, for this reason. On the loop.
    void end(loss_reason why) noexcept {
        ended_.store(why, std::memory_order_relaxed);
        deadline_.store(time_point::min().time_since_epoch().count(), std::memory_order_release);
    }

    /// Any thread. To compare, read the clock first: the deadline is meaningful only for a clock
    /// that was read before it.
    [[nodiscard]] time_point deadline() const noexcept {
        return time_point(duration(deadline_.load(std::memory_order_acquire)));
    }

    /// Any thread. Why the deadline that was read has passed.
    [[nodiscard]] loss_reason why_passed() const noexcept {
        const loss_reason why = ended_.load(std::memory_order_relaxed);
        return why == loss_reason::none ? loss_reason::deadline_passed : why;
    }

    /// The smallest timeout that was granted. On the loop.
    [[nodiscard]] duration timeout() const noexcept { return timeout_; }

    /// When the newest answered write, and the newest contact, was sent. On the loop.
    [[nodiscard]] time_point newest_write() const noexcept { return newest_write_; }

    [[nodiscard]] time_point newest_contact() const noexcept {
        return contacts_ == 0 ? begun_ : log_[contacts_ - 1].sent;
    }

    [[nodiscard]] std::size_t logged_contacts() const noexcept { return contacts_; }

private:
    struct contact {
        time_point sent;
        time_point answered;
    };

    /// Keeps the contacts that submissions can still ask for: the newest one that is a report
    /// period old, and of the later ones two in each eighth of that period, however many there are.
    void add(contact c) noexcept {
        std::size_t old = 0;
        while (old + 1 < contacts_ && log_[old + 1].answered <= c.answered - report_period_) {
            ++old;
        }
        std::move(log_.begin() + static_cast<std::ptrdiff_t>(old),
                  log_.begin() + static_cast<std::ptrdiff_t>(contacts_),
                  log_.begin());
        contacts_ -= old;
        const bool crowded =
            contacts_ == log_.size() ||
            (contacts_ > 1 && c.answered - log_[contacts_ - 2].answered < report_period_ / 8);
        if (crowded) {
            c.sent = std::max(c.sent, log_[--contacts_].sent);
        }
        log_[contacts_++] = c;
    }

    void believe(time_point until) noexcept {
        if (ended_.load(std::memory_order_relaxed) == loss_reason::none && until > deadline()) {
            deadline_.store(until.time_since_epoch().count(), std::memory_order_release);
        }
    }

    const validity_assumptions assumptions_;
    duration timeout_ = duration::max();
    duration kept_{};
    duration report_period_{};
    std::uint64_t connection_ = 0;
    time_point begun_ = time_point::min();   ///< of the present connection
    time_point proven_ = time_point::min();  ///< contacts sent by then are known to the leader
    time_point newest_write_ = time_point::min();
    duration quickest_ = duration::max();  ///< from a write, or a connect, to its answer
    std::array<contact, 24> log_{};
    std::size_t contacts_ = 0;
    std::atomic<loss_reason> ended_ = loss_reason::none;
    std::atomic<duration::rep> deadline_{time_point::min().time_since_epoch().count()};
};

}  // namespace latchkey::inline v0
