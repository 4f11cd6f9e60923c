// What is believed at every moment, against what the leader knows, for requests, stalls and clock
// rates drawn from seeds.
#include "validity/validity.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using time_point = validity::time_point;

/// One client, one follower and the leader. Every link keeps its order. All times are true ones.
class servers {
public:
    servers(std::uint64_t seed, nanoseconds timeout, nanoseconds half_tick)
        : random_(seed), timeout_(timeout), half_tick_(half_tick), next_ping_(up_to(half_tick)) {
        if (seed % 2 == 0) {
            // A leader that stands still. Then no write is prompt: one that is believed by itself
            // relies on that the leader has not.
            slow_ = timeout / 32;
            for (nanoseconds at = up_to(timeout); at < timeout * 30;) {
                const nanoseconds until = at + up_to(timeout * 6 / 5);
                stalls_.push_back({at, until});
                at = until + up_to(timeout * 4);
            }
        }
    }

    struct fate {
        nanoseconds sent;
        nanoseconds answered;
        bool write;
        nanoseconds known;  ///< when the leader last heard of the session, if the follower is cut
                            ///< off as soon as it has forwarded this write
    };

    /// None if the session is over.
    [[nodiscard]] std::optional<fate> request(nanoseconds sent, bool write) {
        const nanoseconds held_back = one_in(6) ? up_to(timeout_) : up_to(timeout_ / 200);
        to_follower_ = std::max(to_follower_, sent + held_back);
        const nanoseconds heard = to_follower_;
        ping_until(heard);
        unreported_ = true;
        if (!write) {
            to_client_ = std::max({to_client_, heard, from_leader_in_order_}) + slow();
            return fate{sent, to_client_, false, {}};
        }
        to_leader_ = std::max(to_leader_, heard + up_to(timeout_ / 200));
        const nanoseconds processed = runs_at(to_leader_);
        to_leader_ = processed;
        if (touched_ + timeout_ < processed) {
            return std::nullopt;
        }
        const nanoseconds known = touched_;
        const nanoseconds committed = runs_at(processed + 1us + up_to(timeout_ / 100));
        ping_until(committed);
        to_follower_from_leader_ = std::max(to_follower_from_leader_, committed);
        from_leader_in_order_ = to_follower_from_leader_;
        to_client_ = std::max(to_client_, from_leader_in_order_) + slow() + slow_;
        return fate{sent, to_client_, true, known};
    }

private:
    struct interval {
        nanoseconds from;
        nanoseconds until;
    };

    [[nodiscard]] nanoseconds up_to(nanoseconds most) {
        return nanoseconds(static_cast<nanoseconds::rep>(
            random_() % static_cast<std::uint64_t>(most.count() + 1)));
    }

    [[nodiscard]] bool one_in(std::uint64_t n) { return random_() % n == 0; }

    [[nodiscard]] nanoseconds slow() { return one_in(6) ? up_to(timeout_) : up_to(timeout_ / 500); }

    [[nodiscard]] nanoseconds runs_at(nanoseconds t) const {
        for (const interval& s : stalls_) {
            if (t >= s.from && t < s.until) {
                return s.until;
            }
        }
        return t;
    }

    /// The leader asks, and the follower reports whom it has heard of since the last time.
    void ping_until(nanoseconds t) {
        while (runs_at(next_ping_) <= t) {
            const nanoseconds pinged = runs_at(next_ping_);
            next_ping_ = pinged + half_tick_;
            to_follower_from_leader_ =
                std::max(to_follower_from_leader_, pinged + up_to(timeout_ / 200));
            if (std::exchange(unreported_, false)) {
                to_leader_ = std::max(to_leader_, to_follower_from_leader_ + up_to(timeout_ / 200));
                const nanoseconds heard = runs_at(to_leader_);
                if (touched_ + timeout_ >= heard) {
                    touched_ = std::max(touched_, heard);
                }
            }
        }
    }

    std::mt19937_64 random_;
    nanoseconds timeout_;
    nanoseconds half_tick_;
    nanoseconds next_ping_;
    nanoseconds slow_{};
    std::vector<interval> stalls_;
    bool unreported_ = false;
    nanoseconds touched_{};  ///< the connect, at 0
    // When what was sent last on a link arrived.
    nanoseconds to_follower_{};
    nanoseconds to_leader_{};
    nanoseconds to_follower_from_leader_{};
    nanoseconds from_leader_in_order_{};
    nanoseconds to_client_{};
};

double rate(std::mt19937_64& random, double drift) {
    constexpr double steps = 4;
    return 1 + drift * (static_cast<double>(random() % 5) * 2 / steps - 1);
}

nanoseconds scaled(nanoseconds d, double by) {
    return nanoseconds(static_cast<nanoseconds::rep>(static_cast<double>(d.count()) * by));
}

nanoseconds draw_pause(std::mt19937_64& random, nanoseconds timeout) {
    switch (random() % 5) {
        case 0:
            return timeout / 16;
        case 1:
            return timeout / 7;
        case 2:
            return timeout * 5 / 16;
        case 3:
            return timeout * static_cast<int>(random() % 100) / 10'000;
        default:
            return timeout * static_cast<int>(random() % 100) / 100;
    }
}

struct beliefs {
    int writes = 0;
    int believed = 0;  ///< when a write was answered
};

/// Runs one session, and compares after every answered write.
void run(std::uint64_t seed, beliefs& sum) {
    std::mt19937_64 random(seed);
    const double drift = seed % 5 == 0 ? 0.1 : 0.01;
    const double ours = rate(random, drift);
    const double theirs = rate(random, drift);
    const nanoseconds timeout = std::chrono::milliseconds(1000 + random() % 20'000);
    const nanoseconds tick = timeout * static_cast<int>(5 + random() % 70) / 100;
    const bool told = tick > timeout / 2 || random() % 2 == 0;
    validity v({.tick = told ? tick : 0s, .drift = drift});
    servers all(seed, scaled(timeout, 1 / theirs), scaled(tick / 2, 1 / theirs));
    const auto clock = [&](nanoseconds t) { return time_point(scaled(t + 100s, ours)); };
    v.connected(clock(0s), clock(1ms), timeout);

    std::vector<servers::fate> fates;
    nanoseconds now = 1ms;
    for (int i = 0; i < 40; ++i) {
        // Also before what was asked for earlier is answered, but not long before.
        now += draw_pause(random, timeout);
        if (!fates.empty() && random() % 3 != 0) {
            now = std::max(now, fates.back().answered);
        }
        const auto f = all.request(now, random() % 3 != 0);
        if (!f) {
            break;
        }
        fates.push_back(*f);
    }
    std::vector<validity::submission> known;
    for (std::size_t answered = 0; answered < fates.size();) {
        const servers::fate& next = fates[answered];
        if (known.size() < fates.size() && fates[known.size()].sent < next.answered) {
            known.push_back(v.submitted(clock(fates[known.size()].sent)));
            continue;
        }
        v.answered(known[answered], clock(next.answered), next.write);
        if (next.write) {
            ++sum.writes;
            sum.believed += clock(next.answered) < v.deadline() ? 1 : 0;
            ASSERT_LE(v.deadline(), clock(next.known + scaled(timeout, 1 / theirs)) + 1us)
                << "request " << answered;
        }
        ++answered;
    }
}

TEST(ValidityInAnyRhythm, NeverOutlivesWhatTheLeaderKnowsOfTheSession) {
    beliefs sum;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        run(seed, sum);
        if (::testing::Test::HasFatalFailure()) {
            return;
        }
    }
    EXPECT_GT(sum.writes, 100'000);
    EXPECT_GT(sum.believed, sum.writes / 5) << "of those that were answered";
}

TEST(ValidityInAnyRhythm, NeverMovesBackWithAnAnswer) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        validity v({.tick = std::chrono::milliseconds(random() % 9000), .drift = 0.01});
        nanoseconds now = 0s;
        v.connected(time_point(now), time_point(now), 10s);
        time_point before = time_point::min();
        for (int i = 0; i < 200; ++i) {
            const auto s = v.submitted(time_point(now));
            now += std::chrono::milliseconds(random() % 4000);
            v.answered(s, time_point(now), random() % 2 == 0);
            ASSERT_GE(v.deadline(), before);
            before = v.deadline();
        }
    }
}

}  // namespace
}  // namespace latchkey
