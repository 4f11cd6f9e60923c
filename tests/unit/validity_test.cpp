#include "validity.hpp"

#include <atomic>
#include <chrono>
#include <thread>

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

TEST(ValidityMargin, IsTwoFifthsOfTheTimeoutAndHalfOfItOrMoreAfterASilence) {
    static_assert(validity_margin(10s, 0s, silence::none) == 4s);
    static_assert(validity_margin(6s, 2s, silence::none) == 2400ms);
    static_assert(validity_margin(10s, 0s, silence::ended) == 5s);
    static_assert(validity_margin(4s, 2s, silence::ended) == 2s);
    static_assert(validity_margin(10s, 5s, silence::ended_late) == 6s);
}

TEST(ValidityMargin, GrowsWithATickLongerThanHalfTheTimeout) {
    static_assert(validity_margin(10s, 5s, silence::none) == 4s);
    static_assert(validity_margin(10s, 5001ms, silence::none) > 4s);
    static_assert(validity_margin(10s, 10s, silence::none) == 8s);
    static_assert(validity_margin(10s, 6s, silence::ended) == 6s);
}

/// A quorum write that is answered at once.
void prove(validity& v, time_point sent) {
    v.proven(sent, sent);
}

/// A validity whose proofs have come as often as heartbeats do, the newest at `newest`.
void prove_steadily(validity& v, time_point newest) {
    prove(v, newest - 4s);
    prove(v, newest - 3s);
    prove(v, newest - 2s);
    prove(v, newest - 1s);
    prove(v, newest);
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
    prove(only_proof, at(1s));
    EXPECT_EQ(only_proof.deadline(), nothing);
    only_proof.negotiated(10s);
    EXPECT_EQ(only_proof.deadline(), at(6s));
}

TEST(Validity, LastsThreeFifthsOfTheTimeoutFromTheSendTimeOfTheNewestProof) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(100s));
    EXPECT_EQ(v.deadline(), at(106s));
    prove(v, at(101s));
    EXPECT_EQ(v.deadline(), at(107s));
}

TEST(Validity, LastsHalfTheTimeoutUntilAQuarterAfterASilence) {
    // The leader may not have heard of the client for half the timeout when the silence ends.
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    EXPECT_EQ(v.deadline(), at(106s));
    prove(v, at(102s));
    EXPECT_EQ(v.deadline(), at(108s));
    prove(v, at(102999ms));
    EXPECT_EQ(v.deadline(), at(108999ms));
    prove(v, at(103s));
    EXPECT_EQ(v.deadline(), at(110200ms));
    prove(v, at(105250ms));
    EXPECT_EQ(v.deadline(), at(112450ms));
    prove(v, at(107501ms));
    EXPECT_EQ(v.deadline(), at(113501ms));
}

TEST(Validity, IsNotProvenByWritesRightAfterAStandstill) {
    // The servers may be about to end the session of a process that was stopped; that they still
    // answer a write does not keep them from it.
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.stood_still(at(111s));
    prove(v, at(111s));
    EXPECT_EQ(v.deadline(), at(110800ms)) << "from the proof at 100 s; it has passed";
    prove(v, at(113s));
    EXPECT_EQ(v.deadline(), at(110800ms));
    prove(v, at(114s));
    EXPECT_EQ(v.deadline(), at(121200ms)) << "the leader has been told by now";
}

// Seed 24065 of leaders: the follower began to lag when the client woke up, and told the leader of
// it when the servers had ended the session.
TEST(Validity, GrantsOnAWriteThatWasSentWhenALaterOneThanTheSignOfLifeWasAnswered) {
    validity v(1s);
    v.negotiated(5s);
    v.proven(at(100s), at(100010ms));
    v.stood_still(at(105s));
    v.heard(at(105s), at(105010ms));
    v.proven(at(106s), at(106010ms));  // too soon: the leader need not have asked meanwhile
    v.proven(at(106300ms), at(107s));
    v.proven(at(106900ms), at(107001ms));
    EXPECT_LT(v.grants_until(), at(105s));
    EXPECT_GT(v.deadline(), at(108s));
    v.proven(at(107100ms), at(107110ms));
    EXPECT_EQ(v.grants_until(), v.deadline());
}

TEST(Validity, AfterAStandstillCountsFromTheLastProofThatTheLeaderKnowsOf) {
    validity v(0s);
    v.negotiated(12s);
    prove_steadily(v, at(100s));
    v.stood_still(at(105s));
    EXPECT_EQ(v.deadline(), at(107200ms));
    prove(v, at(105s));
    EXPECT_EQ(v.deadline(), at(110800ms));
    prove(v, at(107s));
    EXPECT_EQ(v.deadline(), at(110800ms));
    prove(v, at(109s));
    EXPECT_EQ(v.deadline(), at(116200ms));
}

TEST(Validity, DoesNotCountFromAProofThatTheLeaderMayNotKnowOf) {
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.stood_still(at(111s));
    prove(v, at(111s));
    v.stood_still(at(113s));
    prove(v, at(113s));
    EXPECT_EQ(v.deadline(), at(110800ms)) << "the one at 111 s may not have been told";
}

TEST(Validity, MovesWithSteadyProofsThroughAShortStandstill) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(100s));
    v.stood_still(at(101500ms));
    prove(v, at(101500ms));
    EXPECT_EQ(v.deadline(), at(106s));
    prove(v, at(103s));
    EXPECT_EQ(v.deadline(), at(109s)) << "from the proof at 100 s";
    prove(v, at(104500ms));
    EXPECT_EQ(v.deadline(), at(110500ms));
}

TEST(Validity, MovesWithSteadyProofsThroughAnyNumberOfShortStandstills) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(100s));
    for (nanoseconds now = 102s; now < 200s; now += 2s) {
        ASSERT_GT(v.deadline(), at(now));
        v.stood_still(at(now));
        prove(v, at(now));
    }
}

TEST(Validity, IsNotProvenByWritesThatTheNetworkHeldBackAfterAStandstill) {
    // The servers had nothing of what was sent since the standstill before the first answer to it.
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.stood_still(at(107s));
    EXPECT_TRUE(v.unheard());
    v.heard(at(99s), at(107s));
    EXPECT_TRUE(v.unheard()) << "an answer that had waited in the socket";
    v.proven(at(111s), at(111500ms));
    EXPECT_FALSE(v.unheard());
    EXPECT_EQ(v.deadline(), at(110800ms)) << "from the proof at 100 s; it has passed";
    v.proven(at(114s), at(114100ms));
    EXPECT_EQ(v.deadline(), at(110800ms));
    v.proven(at(114500ms), at(114600ms));
    EXPECT_EQ(v.deadline(), at(119300ms)) << "the leader has been told by now";
}

TEST(Validity, IsNotProvenByTheFirstWriteAfterASilenceIfItIsAnsweredLate) {
    // The leader may have stood still, and end the session next.
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.proven(at(110s), at(112s));
    EXPECT_EQ(v.deadline(), at(106s)) << "from the proof at 100 s";
    v.proven(at(111s), at(112s));
    EXPECT_EQ(v.deadline(), at(106s)) << "sent before it was known that the session lives";
    v.proven(at(112s), at(112100ms));
    EXPECT_EQ(v.deadline(), at(116800ms));
}

TEST(Validity, IsProvenByWritesThatFollowEachOtherHoweverLateTheyAreAnswered) {
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.proven(at(110s), at(113s));
    EXPECT_EQ(v.deadline(), at(106s));
    v.proven(at(113s), at(116s));
    EXPECT_EQ(v.deadline(), at(117800ms)) << "it was sent behind an answer";
    v.proven(at(116s), at(119s));
    EXPECT_EQ(v.deadline(), at(120800ms));
}

TEST(Validity, IsProvenByTheSecondOfTwoWritesThatAreAnsweredLate) {
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    v.proven(at(110s), at(111s));
    EXPECT_EQ(v.deadline(), at(106s));
    v.proven(at(115s), at(116s));
    EXPECT_EQ(v.deadline(), at(119800ms)) << "or nothing would be granted where all is slow";
}

TEST(Validity, DoesNotCountFromAProofBeforeAStandstillThatWasAnsweredAfterIt) {
    // It may have arrived as late as that.
    validity v(0s);
    v.negotiated(12s);
    prove_steadily(v, at(100s));
    v.stood_still(at(105s));
    v.proven(at(102s), at(105s));
    v.proven(at(105s), at(105100ms));
    EXPECT_EQ(v.deadline(), at(110800ms)) << "from the proof at 100 s";
}

TEST(Validity, ManyWritesAtOnceDoNotEndASilenceSooner) {
    validity v(0s);
    v.negotiated(12s);
    prove(v, at(100s));
    for (int i = 1; i <= 100; ++i) {
        prove(v, at(100s + std::chrono::milliseconds(i)));
    }
    EXPECT_EQ(v.deadline(), at(106100ms));
}

TEST(Validity, ProofsThatAreAnsweredOutOfOrderDoNotSetItBack) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(101s));
    prove(v, at(100500ms));
    prove(v, at(100s));
    EXPECT_EQ(v.deadline(), at(107s));
    EXPECT_EQ(v.proof(), at(101s));
}

TEST(Validity, TakesTheSmallestTimeoutEverNegotiated) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(100s));
    v.negotiated(5s);
    EXPECT_EQ(v.deadline(), at(102500ms)) << "what was often enough is not for sure any more";
    EXPECT_EQ(v.timeout(), 5s);
    v.negotiated(20s);
    EXPECT_EQ(v.deadline(), at(102500ms));
    prove(v, at(100500ms));
    EXPECT_EQ(v.deadline(), at(103s));
    prove(v, at(101300ms));
    EXPECT_EQ(v.deadline(), at(104300ms));
}

TEST(Validity, LongTicksCostInProportion) {
    validity v(8s);
    v.negotiated(10s);
    prove(v, at(95s));
    EXPECT_EQ(v.deadline(), at(97s));
    prove(v, at(96s));
    prove(v, at(97s));
    prove(v, at(98s));
    EXPECT_EQ(v.deadline(), at(100s)) << "within half a tick of the silence";
    prove(v, at(99s));
    EXPECT_EQ(v.deadline(), at(102600ms));
}

TEST(Validity, ATickThatLeavesNothingLeavesNothing) {
    validity v(20s);
    v.negotiated(10s);
    prove(v, at(100s));
    EXPECT_LT(v.deadline(), at(100s));
}

TEST(Validity, IsNotSeenToEndByOtherThreadsWhileAShorterTimeoutIsTaken) {
    validity v(0s);
    v.negotiated(10s);
    prove_steadily(v, at(100s));
    std::atomic<bool> reading{false};
    std::atomic<bool> over{false};
    std::atomic<bool> seen_to_end{false};
    std::thread reader([&] {
        while (!over) {
            reading = true;
            if (v.deadline() == nothing) {
                seen_to_end = true;
            }
        }
    });
    while (!reading) {
        std::this_thread::yield();
    }
    for (int i = 1; i <= 1'000'000; ++i) {
        v.negotiated(10s - std::chrono::microseconds(i));
    }
    over = true;
    reader.join();
    EXPECT_FALSE(seen_to_end);
}

TEST(Validity, EndsForGood) {
    validity v(0s);
    v.negotiated(10s);
    prove(v, at(100s));
    v.end();
    EXPECT_EQ(v.deadline(), nothing);
    prove(v, at(200s));
    v.negotiated(5s);
    EXPECT_EQ(v.deadline(), nothing);
}

}  // namespace
}  // namespace latchkey
