// What is believed at every moment, for rhythms of writes, pings and reports drawn from seeds.
#include "validity.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using time_point = validity::time_point;

time_point at(nanoseconds t) {
    return time_point(t);
}

/// What the leader knows of a client whose follower is cut off: the follower tells it at every
/// `half_tick` whom it heard from since the last time.
struct leader_knowledge {
    nanoseconds half_tick;
    nanoseconds offset;
    std::vector<nanoseconds> heard;  ///< by the follower, in order

    /// When the leader last heard of the client, if the follower is cut off at `cut`.
    [[nodiscard]] nanoseconds last_touch(nanoseconds cut) const {
        nanoseconds told = offset + (cut - offset) / half_tick * half_tick;
        while (std::none_of(heard.begin(), heard.end(), [&](nanoseconds h) {
            return h > told - half_tick && h <= told;
        })) {
            told -= half_tick;
        }
        return told;
    }
};

TEST(ValidityInAnyRhythm, NeverOutlivesWhatTheLeaderKnowsOfTheSession) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const nanoseconds timeout = std::chrono::milliseconds(1000 + random() % 20'000);
        // At most half the timeout, or said so.
        const nanoseconds tick = timeout * static_cast<int>(1 + random() % 75) / 100;
        leader_knowledge leader{tick / 2, tick / 2 * static_cast<int>(random() % 100) / 100, {}};
        validity v(tick > timeout / 2 ? tick : 0s);
        v.negotiated(timeout);
        nanoseconds now = 100 * timeout;
        leader.heard = {now - timeout, now - timeout * 2 / 3, now - timeout / 3, now};
        nanoseconds quiet_since = now;
        for (int i = 0; i < 60; ++i) {
            if (random() % 10 == 0) {
                now += timeout / 8 + timeout * static_cast<int>(random() % 100) / 100;
                if (leader.last_touch(now) + timeout <= now) {
                    break;  // the session is over
                }
                v.stood_still(at(now));
                quiet_since = now;  // what had been answered before may be read only now
            } else if (random() % 4 == 0) {
                for (std::uint64_t pings = random() % 6; pings > 0; --pings) {
                    now += timeout / 3;
                    leader.heard.push_back(now);
                    quiet_since = now;
                }
                now += timeout * static_cast<int>(random() % 100) / 300;
            } else if (random() % 3 == 0) {
                now += timeout * static_cast<int>(random() % 100) / 600;
            } else {
                now += timeout / 6;
            }
            // Every now and then the network keeps heartbeats back, and lets all go at once.
            std::vector<nanoseconds> sent{now};
            if (random() % 5 == 0) {
                now += timeout * static_cast<int>(random() % 100) / 150;
                while (now - sent.back() > timeout / 6) {
                    sent.push_back(sent.back() + timeout / 6);
                }
                if (random() % 2 == 0) {
                    sent.push_back(now);
                }
                if (leader.last_touch(now) + timeout <= now) {
                    break;
                }
            }
            if (now - quiet_since > timeout * 2 / 5) {
                v.heard_again(at(now));
            }
            leader.heard.push_back(now);
            quiet_since = now;
            for (const nanoseconds s : sent) {
                v.proven(at(s), at(now));
            }
            ASSERT_LE(v.deadline(), at(leader.last_touch(now) + timeout))
                << "write " << i << " of " << leader.heard.size();
        }
    }
}

TEST(ValidityInAnyRhythm, NeverMovesBackWithAProof) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        validity v(std::chrono::milliseconds(random() % 9000));
        v.negotiated(10s);
        time_point before = time_point::min();
        nanoseconds now = 0s;
        for (int i = 0; i < 200; ++i) {
            now += std::chrono::milliseconds(random() % 4000);
            v.proven(at(now), at(now));
            ASSERT_GE(v.deadline(), before);
            before = v.deadline();
        }
    }
}

}  // namespace
}  // namespace latchkey
