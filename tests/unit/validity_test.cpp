#include "validity.hpp"

#include <chrono>
#include <random>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using time_point = validity::time_point;

constexpr time_point nothing = time_point::min();

time_point at(nanoseconds t) {
    return time_point(t);
}

TEST(ValidityMargin, IsTwoFifthsOfTheTimeout) {
    static_assert(validity_margin(10s, 0s) == 4s);
    static_assert(validity_margin(6s, 2s) == 2400ms);
    static_assert(validity_margin(400ms, 200ms) == 160ms);
}

TEST(ValidityMargin, GrowsWithATickLongerThanHalfTheTimeout) {
    static_assert(validity_margin(10s, 5s) == 4s);
    static_assert(validity_margin(10s, 5001ms) > 4s);
    static_assert(validity_margin(10s, 10s) == 8s);
}

TEST(ValidityMargin, CoversWhatTheServersMayNotHaveHeardOf) {
    // Silent for a third of the timeout, and told to the leader half a tick later.
    for (const nanoseconds timeout : {400ms, 1000ms, 3000ms, 4000ms, 10000ms, 40000ms}) {
        for (nanoseconds tick = 0ns; tick <= timeout * 3 / 2; tick += timeout / 20) {
            EXPECT_GE(validity_margin(timeout, tick), timeout / 3);
            EXPECT_GE(validity_margin(timeout, tick), tick / 2);
        }
    }
}

TEST(Validity, BelievesNothingAtFirst) {
    const validity v(0s);
    EXPECT_EQ(v.deadline(), nothing);
    EXPECT_EQ(v.proof(), nothing);
}

TEST(Validity, NeedsBothATimeoutAndAProof) {
    validity only_timeout(0s);
    only_timeout.negotiated(10s);
    EXPECT_EQ(only_timeout.deadline(), nothing);
    validity only_proof(0s);
    only_proof.proven(at(1s));
    EXPECT_EQ(only_proof.deadline(), nothing);
    only_proof.negotiated(10s);
    EXPECT_EQ(only_proof.deadline(), at(7s));
}

TEST(Validity, CountsFromTheSendTimeOfTheNewestProof) {
    validity v(0s);
    v.negotiated(10s);
    v.proven(at(100s));
    EXPECT_EQ(v.deadline(), at(106s));
    v.proven(at(101s));
    EXPECT_EQ(v.deadline(), at(107s));
}

TEST(Validity, ProofsThatAreAnsweredOutOfOrderDoNotSetItBack) {
    validity v(0s);
    v.negotiated(10s);
    v.proven(at(101s));
    v.proven(at(100s));
    EXPECT_EQ(v.deadline(), at(107s));
    EXPECT_EQ(v.proof(), at(101s));
}

TEST(Validity, TakesTheSmallestTimeoutEverNegotiated) {
    validity v(0s);
    v.negotiated(10s);
    v.proven(at(100s));
    v.negotiated(5s);
    EXPECT_EQ(v.deadline(), at(103s));
    EXPECT_EQ(v.timeout(), 5s);
    v.negotiated(20s);
    EXPECT_EQ(v.deadline(), at(103s));
    v.proven(at(101s));
    EXPECT_EQ(v.deadline(), at(104s));
}

TEST(Validity, LongTicksCostInProportion) {
    validity v(8s);
    v.negotiated(10s);
    v.proven(at(100s));
    EXPECT_EQ(v.deadline(), at(103600ms));
}

TEST(Validity, ATickThatLeavesNothingLeavesNothing) {
    validity v(20s);
    v.negotiated(10s);
    v.proven(at(100s));
    EXPECT_LT(v.deadline(), at(100s));
}

TEST(Validity, EndsForGood) {
    validity v(0s);
    v.negotiated(10s);
    v.proven(at(100s));
    v.end();
    EXPECT_EQ(v.deadline(), nothing);
    v.proven(at(200s));
    v.negotiated(5s);
    EXPECT_EQ(v.deadline(), nothing);
}

TEST(Validity, NeverOutlivesWhatAnyProofAndTimeoutAllow) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const nanoseconds tick = std::chrono::milliseconds(random() % 2000);
        validity v(tick);
        nanoseconds newest = nanoseconds::min();
        nanoseconds smallest = nanoseconds::max();
        for (int i = 0; i < 50; ++i) {
            if (random() % 4 == 0) {
                const nanoseconds timeout = std::chrono::milliseconds(400 + random() % 40000);
                smallest = std::min(smallest, timeout);
                v.negotiated(timeout);
            } else {
                const nanoseconds sent = std::chrono::milliseconds(random() % 1'000'000);
                newest = std::max(newest, sent);
                v.proven(at(sent));
            }
            if (newest == nanoseconds::min() || smallest == nanoseconds::max()) {
                ASSERT_EQ(v.deadline(), nothing);
            } else {
                ASSERT_LE(v.deadline(), at(newest + smallest - smallest * 2 / 5));
                ASSERT_EQ(v.deadline(), at(newest + smallest - validity_margin(smallest, tick)));
            }
        }
    }
}

}  // namespace
}  // namespace latchkey
