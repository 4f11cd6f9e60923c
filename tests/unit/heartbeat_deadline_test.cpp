#include "heartbeat_fixture.hpp"

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using test::timeout;

using HeartbeatDeadline = test::heartbeat_fixture;

TEST_F(HeartbeatDeadline, LapsesExactlyAtTheDeadlineAndNotBefore) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(7200ms - 1ns);
    EXPECT_THAT(lapsed, IsEmpty());
    pass(1ns);
    EXPECT_THAT(lapsed, ElementsAre(7200ms));
    pass(1h);
    EXPECT_THAT(lapsed, SizeIs(1));
}

TEST_F(HeartbeatDeadline, LapsesWhileDisconnectedToo) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    pass(1min);
    EXPECT_THAT(lapsed, ElementsAre(7200ms));
}

TEST_F(HeartbeatDeadline, DoesNotLapseWhileItIsAnswered) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1h);
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_GE(beats.size(), 1790U);
    EXPECT_LE(beats.size(), 1810U);
}

TEST_F(HeartbeatDeadline, LapsesEarlierWhenAShorterTimeoutIsNegotiated) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    state->negotiated(5s);  // believed until 2.5 s
    beat.connected();
    pass(1h);
    ASSERT_THAT(lapsed, SizeIs(1));
    EXPECT_EQ(lapsed.front(), 2500ms);
}

TEST_F(HeartbeatDeadline, LapsesAgainForWhatWasGrantedAfterALapse) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.suspended();
    pass_until(8s);
    ASSERT_THAT(lapsed, ElementsAre(7200ms));
    beat.connected();
    pass_until(9s);  // the beat at 8 s was answered: believed until 14 s
    beat.demand(&other, "/b");
    pass_until(9500ms);
    beat.suspended();
    pass_until(1min);
    ASSERT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, ElementsAre(7200ms, 14s));
}

TEST_F(HeartbeatDeadline, WhoStaysAfterALapseIsWatchedAgainFromTheNextProof) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.suspended();
    pass_until(8s);
    ASSERT_THAT(lapsed, SizeIs(1));
    beat.connected();
    pass_until(9s);
    beat.suspended();
    pass_until(1min);
    EXPECT_THAT(lapsed, ElementsAre(7200ms, 14s));
}

TEST_F(HeartbeatDeadline, ADemandThatFindsAnOldProofHasNothingToLose) {
    // A waiter that becomes next in line after an hour: nothing was believed meanwhile, so nothing
    // is lost.
    begin_proven();
    pass(1h);
    beat.demand(&one, "/a");
    EXPECT_THAT(beats, SizeIs(1));
    pass(1min);
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(HeartbeatDeadline, ReliesOnValidityOnlyWhileItIsDemandedAndWasProven) {
    round_trip.reset();
    begin_proven();
    EXPECT_FALSE(beat.relied_upon());
    pass(1h);
    beat.demand(&one, "/a");
    EXPECT_TRUE(beat.demanded());
    EXPECT_FALSE(beat.relied_upon());
    answer(0);
    EXPECT_TRUE(beat.relied_upon());
    beat.withdraw(&one);
    EXPECT_FALSE(beat.relied_upon());
    state->proven(loop->now(), loop->now());
    beat.demand(&one, "/a");
    EXPECT_TRUE(beat.relied_upon());
    beat.suspended();
    EXPECT_TRUE(beat.relied_upon());
    pass(7200ms);
    EXPECT_THAT(lapsed, SizeIs(1));
    EXPECT_FALSE(beat.relied_upon());
}

TEST_F(HeartbeatDeadline, ADemandBetweenWithdrawalAndTheOldDeadlineDoesNotInheritIt) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.withdraw(&one);
    // The process stands still beyond the deadline; a waiter comes first when it wakes up.
    loop->start_timer(loop->now() + 6200ms, [this] { beat.demand(&other, "/b"); });
    pass(1h);
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(HeartbeatDeadline, KnowsNothingOfAnEndedSession) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.session_ends();
    EXPECT_FALSE(beat.demanded());
    EXPECT_FALSE(beat.relied_upon());
    pass(1h);
    EXPECT_THAT(beats, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(HeartbeatDeadline, ANewSessionBeginsWithoutTheDemandsOfTheOldOne) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(3s);
    const sent_beat old = beats.back();
    begin_proven();
    EXPECT_FALSE(beat.demanded());
    old.answered();
    pass(1min);
    EXPECT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_THAT(given_up, IsEmpty());
}

TEST_F(HeartbeatDeadline, AlwaysLapsesInTimeAndNeverWithoutCause) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto world = virtual_loop::make(virtual_loop::mode::stepped, seed);
        const auto v = std::make_shared<validity>(0s);
        v->negotiated(timeout);
        bool linked = true;
        int lapses = 0;
        latchkey::loop::clock::time_point last_lapse{};
        heartbeat h(*world,
                    {.beat =
                         [&](const std::string&, std::function<void()> answered) {
                             if (random() % 4 != 0) {
                                 const auto sent = world->now();
                                 world->start_timer(
                                     sent + std::chrono::milliseconds(random() % 1000),
                                     [&linked, &world, v, sent, answered = std::move(answered)] {
                                         if (linked) {
                                             v->proven(sent, world->now());
                                             answered();
                                         }
                                     });
                             }
                         },
                     .give_up_connection =
                         [&] {
                             world->post([&] {
                                 linked = false;
                                 h.suspended();
                             });
                             world->start_timer(
                                 world->now() + std::chrono::milliseconds(random() % 9000), [&] {
                                     linked = true;
                                     h.connected();
                                 });
                         },
                     .deadline_passed =
                         [&] {
                             ++lapses;
                             last_lapse = world->now();
                             EXPECT_EQ(world->now(), v->deadline());
                         }});
        h.session_begins(v);
        h.connected();
        v->proven(world->now(), world->now());
        h.demand(&one, "/a");
        for (int i = 0; i < 2000; ++i) {
            world->run_for(100ms);
            if (world->now() >= v->deadline()) {
                ASSERT_EQ(last_lapse, v->deadline());
            }
        }
        world->abandon();
    }
}

}  // namespace
}  // namespace latchkey
