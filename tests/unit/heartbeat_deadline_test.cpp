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
    pass_until(28s - 1ns);
    EXPECT_THAT(lapsed, IsEmpty());
    pass(1ns);
    EXPECT_THAT(lapsed, ElementsAre(28s));
    pass(1h);
    EXPECT_THAT(lapsed, SizeIs(1));
}

TEST_F(HeartbeatDeadline, LapsesWhileDisconnectedToo) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    pass(1min);
    EXPECT_THAT(lapsed, ElementsAre(28s));
}

TEST_F(HeartbeatDeadline, DoesNotLapseWhileItIsAnswered) {
    begin_proven();
    beat.demand(&one, "/a");
    pass(1h);
    EXPECT_THAT(lapsed, IsEmpty());
    EXPECT_GE(beats.size(), 890U);
    EXPECT_LE(beats.size(), 910U);
}

TEST_F(HeartbeatDeadline, LapsesEarlierWhenAShorterTimeoutIsGranted) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass(1s);
    beat.suspended();
    reconnect(5s);
    pass(1h);
    EXPECT_THAT(lapsed, ElementsAre(6s));
}

TEST_F(HeartbeatDeadline, LapsesAgainForWhatWasGrantedAfterALapse) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.suspended();
    pass_until(30s);
    ASSERT_THAT(lapsed, ElementsAre(28s));
    reconnect();
    pass_until(31s);  // the beat at 30 s was answered: believed until 58 s
    beat.demand(&other, "/b");
    pass_until(31500ms);
    beat.suspended();
    pass_until(2min);
    ASSERT_THAT(beats, SizeIs(1));
    EXPECT_THAT(lapsed, ElementsAre(28s, 58s));
}

TEST_F(HeartbeatDeadline, ADemandThatStaysAfterALapseIsWatchedAgainFromTheNextProof) {
    begin_proven();
    beat.demand(&one, "/a");
    beat.suspended();
    pass_until(30s);
    ASSERT_THAT(lapsed, SizeIs(1));
    reconnect();
    pass_until(31s);
    beat.suspended();
    pass_until(2min);
    EXPECT_THAT(lapsed, ElementsAre(28s, 58s));
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
    begin();
    EXPECT_FALSE(beat.relied_upon());
    beat.demand(&one, "/a");
    EXPECT_TRUE(beat.demanded());
    EXPECT_FALSE(beat.relied_upon());
    answer(0);
    EXPECT_TRUE(beat.relied_upon());
    beat.withdraw(&one);
    EXPECT_FALSE(beat.relied_upon());
    prove();
    beat.demand(&one, "/a");
    EXPECT_TRUE(beat.relied_upon());
    beat.suspended();
    EXPECT_TRUE(beat.relied_upon());
    pass(28s);
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
    loop->start_timer(loop->now() + 27s, [this] { beat.demand(&other, "/b"); });
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
    EXPECT_THAT(reads, IsEmpty());
    EXPECT_THAT(lapsed, IsEmpty());
}

TEST_F(HeartbeatDeadline, ANewSessionBeginsWithoutTheDemandsOfTheOldOne) {
    round_trip.reset();
    begin_proven();
    beat.demand(&one, "/a");
    pass_until(5s);
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
        const auto v = std::make_shared<validity>(validity_assumptions{.tick = {}, .drift = 0});
        bool linked = true;
        int connection = 0;
        int lapses = 0;
        latchkey::loop::clock::time_point last_lapse{};
        heartbeat h(
            *world,
            {.beat =
                 [&](const std::string&, const std::function<void()>& answered) {
                     if (random() % 4 != 0) {
                         const auto sent = world->now();
                         world->start_timer(
                             sent + std::chrono::milliseconds(random() % 1000),
                             [&, sent_on = connection, known = v->submitted(sent), answered] {
                                 if (linked && sent_on == connection) {
                                     v->answered(known, world->now(), true);
                                     answered();
                                 }
                             });
                     }
                 },
             .read = [](const std::function<void()>&) {},
             .give_up_connection =
                 [&] {
                     world->post([&] {
                         linked = false;
                         h.suspended();
                     });
                     world->start_timer(world->now() + std::chrono::milliseconds(random() % 40'000),
                                        [&] {
                                            linked = true;
                                            ++connection;
                                            v->connected(world->now(), world->now(), timeout);
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
        v->connected(world->now(), world->now(), timeout);
        h.connected();
        v->answered(v->submitted(world->now()), world->now(), true);
        h.demand(&one, "/a");
        for (int i = 0; i < 4000; ++i) {
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
