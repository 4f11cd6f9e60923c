#include "heartbeat_fixture.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Heartbeat = test::heartbeat_fixture;

TEST_F(Heartbeat, IsSilentWhileNobodyDemandsIt) {
    begin_proven();
    pass(1h);
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_FALSE(beat.demanded());
}

TEST_F(Heartbeat, IsSilentBeforeTheFirstSession) {
    beat.demand(&one, "/a");
    pass(1h);
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(Heartbeat, BeatsEverySixthOfTheTimeoutAfterAFreshProof) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(9s);
    EXPECT_THAT(times(), ElementsAre(2s, 4s, 6s, 8s));
    EXPECT_EQ(beats.front().path, "/a");
}

TEST_F(Heartbeat, BeatsAtOnceWithoutAProof) {
    begin();
    beat.demand(&one, "/a");
    EXPECT_THAT(times(), ElementsAre(0s));
}

TEST_F(Heartbeat, BeatsAtOnceWhenTheProofIsOld) {
    begin_proven();
    pass(2s);
    beat.demand(&one, "/a");
    EXPECT_THAT(times(), ElementsAre(2s));
}

TEST_F(Heartbeat, IsOneHoweverManyDemandIt) {
    begin_proven();
    std::vector<int> users(100);
    for (const int& user : users) {
        beat.demand(&user, "/a");
    }
    pass(9s);
    EXPECT_THAT(times(), ElementsAre(2s, 4s, 6s, 8s));
}

TEST_F(Heartbeat, IsSuppressedByOtherWritesThatAreAnsweredAsOften) {
    begin_proven();
    beat.demand(&one, "/a");
    for (int i = 0; i < 20; ++i) {
        pass(1900ms);
        state->proven(loop->now(), loop->now());
    }
    EXPECT_THAT(beats, IsEmpty());
    pass(2s);
    EXPECT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(Heartbeat, StopsWhenTheLastDemandIsWithdrawn) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.demand(&other, "/b");
    beat.withdraw(&one);
    pass(3s);
    EXPECT_THAT(times(), ElementsAre(2s));
    EXPECT_EQ(beats.back().path, "/b");
    beat.withdraw(&other);
    pass(1h);
    EXPECT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_THAT(given_up, IsEmpty());
}

TEST_F(Heartbeat, WithdrawingWhatWasNotDemandedChangesNothing) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.withdraw(&other);
    pass(3s);
    EXPECT_THAT(beats, SizeIs(1));
}

TEST_F(Heartbeat, ShortHoldsCostNoBeats) {
    begin();
    for (int i = 0; i < 1000; ++i) {
        state->proven(loop->now(), loop->now());  // the create
        beat.demand(&one, "/a");
        pass(5ms);
        state->proven(loop->now(), loop->now());  // the delete
        beat.withdraw(&one);
        pass(5ms);
    }
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
}

// ---- a connection that does not answer ----

TEST_F(Heartbeat, GivesUpTheConnectionAfterAQuarterOfTheTimeoutWithoutAnswer) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s - 1ns);
    EXPECT_THAT(times(), ElementsAre(2s));
    EXPECT_THAT(given_up, IsEmpty());
    pass(1ns);
    EXPECT_THAT(given_up, ElementsAre(5s));
}

TEST_F(Heartbeat, DoesNotGiveUpWhenTheAnswerComesInTime) {
    round_trip = 2999ms;
    begin_proven(2999ms);
    beat.demand(&one, "/a");
    pass(1min);
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_EQ(beats[1].at, 2999ms);
}

TEST_F(Heartbeat, GivesUpOnceForEachConnection) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
    beat.suspended();
    pass(1s);
    EXPECT_THAT(given_up, SizeIs(1));
    beat.connected();
    EXPECT_THAT(times(), ElementsAre(2s, 6s));
    pass_until(9s);
    EXPECT_THAT(given_up, ElementsAre(5s, 9s));
}

TEST_F(Heartbeat, BeatsAtOnceOnANewConnectionWhenTheProofIsOld) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    pass(4s);
    EXPECT_THAT(beats, IsEmpty());
    beat.connected();
    EXPECT_THAT(times(), ElementsAre(5s));
}

TEST_F(Heartbeat, IgnoresTheLateAnswerOfALostConnection) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(3s);
    beat.suspended();
    beat.connected();  // and beats again
    ASSERT_THAT(times(), ElementsAre(2s, 3s));
    beats[0].answered();
    pass_until(6s);
    EXPECT_THAT(given_up, ElementsAre(6s));
}

TEST_F(Heartbeat, LostAnswersAfterASuspensionSendNothing) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(3s);
    beat.suspended();
    beats[0].answered();  // connection_loss comes after `suspended`
    pass(1s);
    EXPECT_THAT(beats, SizeIs(1));
}

TEST_F(Heartbeat, AnswersThatProveNothingAreNotFollowedByAStorm) {
    // Refused, or throttled: nothing is proven, and asking faster does not help.
    proving = false;
    begin_proven();
    beat.demand(&one, "/a");
    pass(12s);
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_LE(beats.size(), 7U);
    EXPECT_GE(beats.size(), 3U);
    EXPECT_THAT(lapsed, ElementsAre(7200ms));
}

TEST_F(Heartbeat, LooksAtEveryZnodeInItsTurn) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.demand(&other, "/b");
    pass(9s);
    ASSERT_GE(beats.size(), 4U);
    for (std::size_t i = 1; i < beats.size(); ++i) {
        EXPECT_NE(beats[i].path, beats[i - 1].path) << i;
    }
}

TEST_F(Heartbeat, AnOldUnansweredBeatGivesUpTheConnectionForTheNextDemandToo) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(3s);
    ASSERT_THAT(beats, SizeIs(1));
    beat.withdraw(&one);
    pass_until(20s);
    EXPECT_THAT(given_up, IsEmpty());
    beat.demand(&other, "/b");
    EXPECT_THAT(given_up, ElementsAre(20s));
}

}  // namespace
}  // namespace latchkey
