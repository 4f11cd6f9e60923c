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

TEST_F(Heartbeat, SendsAReadNowAndThenWhileNobodyDemandsMore) {
    begin_proven();
    pass(1h);
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(reads, SizeIs(1h / 8750ms));
    EXPECT_EQ(reads[1], 17500ms) << "counted from when the one before was sent";
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_FALSE(beat.demanded());
}

TEST_F(Heartbeat, SendsNoReadWhileOtherRequestsAreAnsweredAsOften) {
    begin();
    for (int i = 0; i < 100; ++i) {
        pass(8s);
        prove();
    }
    EXPECT_THAT(reads, IsEmpty());
}

TEST_F(Heartbeat, SendsNoSecondReadBeforeTheFirstIsAnswered) {
    round_trip.reset();
    begin_proven();
    pass(1h);
    EXPECT_THAT(reads, SizeIs(1));
    beat.suspended();
    pass(1h);
    EXPECT_THAT(reads, SizeIs(1));
    reconnect();
    pass(10s);
    EXPECT_THAT(reads, SizeIs(2));
}

TEST_F(Heartbeat, IsSilentBeforeTheFirstSession) {
    beat.demand(&one, "/a");
    pass(1h);
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(reads, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(Heartbeat, BeatsEverySeventhOfTheTimeoutAfterAFreshProof) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(17s);
    EXPECT_THAT(times(), ElementsAre(4s, 8s, 12s, 16s));
    EXPECT_EQ(beats.front().path, "/a");
    EXPECT_THAT(reads, IsEmpty());
}

TEST_F(Heartbeat, BeatsSoonAfterAWriteThatIsBelievedForAShortTime) {
    begin();
    pass_until(40s);
    prove();  // the first one for long
    beat.demand(&one, "/a");
    pass_until(50s);
    EXPECT_THAT(times(), ElementsAre(41750ms, 45750ms, 49750ms));
}

TEST_F(Heartbeat, BeatsAtOnceWithoutAProof) {
    begin();
    beat.demand(&one, "/a");
    EXPECT_THAT(times(), ElementsAre(0s));
}

TEST_F(Heartbeat, BeatsAtOnceWhenTheProofIsOld) {
    begin_proven();
    pass(4s);
    beat.demand(&one, "/a");
    EXPECT_THAT(times(), ElementsAre(4s));
}

TEST_F(Heartbeat, IsOneHoweverManyDemandIt) {
    begin_proven();
    std::vector<int> users(100);
    for (const int& user : users) {
        beat.demand(&user, "/a");
    }
    pass(17s);
    EXPECT_THAT(times(), ElementsAre(4s, 8s, 12s, 16s));
}

TEST_F(Heartbeat, IsSuppressedByOtherWritesThatAreAnsweredAsOften) {
    begin_proven();
    beat.demand(&one, "/a");
    for (int i = 0; i < 20; ++i) {
        pass(3900ms);
        prove();
    }
    EXPECT_THAT(beats, IsEmpty());
    pass(4s);
    EXPECT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(Heartbeat, StopsWhenTheLastDemandIsWithdrawn) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.demand(&other, "/b");
    beat.withdraw(&one);
    pass(5s);
    EXPECT_THAT(times(), ElementsAre(4s));
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
    pass(5s);
    EXPECT_THAT(beats, SizeIs(1));
}

TEST_F(Heartbeat, ShortHoldsCostNoBeats) {
    begin();
    for (int i = 0; i < 1000; ++i) {
        prove();  // the create
        beat.demand(&one, "/a");
        pass(5ms);
        prove();  // the delete
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
    pass_until(11s - 1ns);
    EXPECT_THAT(times(), ElementsAre(4s));
    EXPECT_THAT(given_up, IsEmpty());
    pass(1ns);
    EXPECT_THAT(given_up, ElementsAre(11s));
}

// Answers come in the order of the requests: the heartbeat is behind those.
TEST_F(Heartbeat, DoesNotGiveUpAConnectionThatAnswersWhatIsAheadOfTheBeat) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
    for (int i = 0; i < 10; ++i) {
        beat.answered();
        pass(6s);
    }
    EXPECT_THAT(times(), ElementsAre(4s));
    EXPECT_THAT(given_up, IsEmpty());
    pass_until(66s - 1ns);
    EXPECT_THAT(given_up, IsEmpty());
    pass(1ns);
    EXPECT_THAT(given_up, ElementsAre(66s)) << "a quarter after the last answer";
}

// A follower that was cut off from its leader answers the reads that came before the heartbeat, and
// nothing behind it.
TEST_F(Heartbeat, GivesUpAConnectionThatAnsweredOnlyWhatCameBeforeTheBeat) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(4s - 1ms);
    beat.answered();
    pass_until(11s);
    EXPECT_THAT(given_up, ElementsAre(11s));
}

TEST_F(Heartbeat, DoesNotGiveUpWhenTheAnswerComesInTime) {
    round_trip = 3999ms;
    begin_proven();
    beat.demand(&one, "/a");
    pass(5min);
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_EQ(beats[1].at, 8s);
}

TEST_F(Heartbeat, GivesUpOnceForEachConnection) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(11s);
    beat.suspended();
    pass(1s);
    EXPECT_THAT(given_up, SizeIs(1));
    reconnect();
    EXPECT_THAT(times(), ElementsAre(4s, 12s));
    pass_until(19s);
    EXPECT_THAT(given_up, ElementsAre(11s, 19s));
}

TEST_F(Heartbeat, BeatsAtOnceOnANewConnectionWhenTheProofIsOld) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    pass(5s);
    EXPECT_THAT(beats, IsEmpty());
    reconnect();
    EXPECT_THAT(times(), ElementsAre(6s));
}

TEST_F(Heartbeat, IgnoresTheLateAnswerOfALostConnection) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
    beat.suspended();
    reconnect();  // and beats again
    ASSERT_THAT(times(), ElementsAre(4s, 5s));
    beats[0].answered();
    pass_until(12s);
    EXPECT_THAT(given_up, ElementsAre(12s));
}

TEST_F(Heartbeat, LostAnswersAfterASuspensionSendNothing) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
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
    pass(28s);
    EXPECT_THAT(given_up, IsEmpty());
    EXPECT_LE(beats.size(), 10U);
    EXPECT_GE(beats.size(), 6U);
    EXPECT_THAT(lapsed, ElementsAre(28s));
}

TEST_F(Heartbeat, LooksAtEveryZnodeInItsTurn) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.demand(&other, "/b");
    pass(17s);
    ASSERT_GE(beats.size(), 4U);
    for (std::size_t i = 1; i < beats.size(); ++i) {
        EXPECT_NE(beats[i].path, beats[i - 1].path) << i;
    }
}

TEST_F(Heartbeat, AnOldUnansweredBeatGivesUpTheConnectionForTheNextDemandToo) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
    ASSERT_THAT(beats, SizeIs(1));
    beat.withdraw(&one);
    pass_until(40s);
    EXPECT_THAT(given_up, IsEmpty());
    beat.demand(&other, "/b");
    EXPECT_THAT(given_up, ElementsAre(40s));
}

}  // namespace
}  // namespace latchkey
