#include "supervisor/kill_schedule.hpp"

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using stage = kill_schedule::stage;
using time_point = kill_schedule::time_point;

constexpr time_point at(std::chrono::nanoseconds t) {
    return time_point(t);
}

TEST(KillSchedule, TerminatesAtGraceAndKillsBeforeTheDeadline) {
    kill_schedule e(at(10s), 1s);
    EXPECT_EQ(e.next(), at(9s));
    EXPECT_EQ(e.advance(at(9s - 1ns)), stage::running);
    EXPECT_EQ(e.advance(at(9s)), stage::terminating);
    EXPECT_EQ(e.next(), at(10s - kill_schedule::safety));
    EXPECT_EQ(e.advance(at(10s - kill_schedule::safety - 1ns)), stage::terminating);
    EXPECT_EQ(e.advance(at(10s - kill_schedule::safety)), stage::killing);
    EXPECT_EQ(e.next(), time_point::max());
}

TEST(KillSchedule, IsPutOffAsLongAsTheDeadlineMoves) {
    kill_schedule e(at(10s), 1s);
    for (auto now = 0s; now < 100s; now += 2s) {
        e.move_deadline(at(now + 10s));
        EXPECT_EQ(e.advance(at(now)), stage::running);
    }
    EXPECT_EQ(e.next(), at(107s));
}

TEST(KillSchedule, FollowsADeadlineThatMovesBack) {
    kill_schedule e(at(10s), 1s);
    e.move_deadline(at(5s));
    EXPECT_EQ(e.advance(at(4s)), stage::terminating);
}

TEST(KillSchedule, IsFinalOnceTermWasSent) {
    kill_schedule e(at(10s), 1s);
    EXPECT_EQ(e.advance(at(9s)), stage::terminating);
    e.move_deadline(at(100s));
    EXPECT_EQ(e.next(), at(10s - kill_schedule::safety));
    EXPECT_EQ(e.advance(at(10s)), stage::killing);
    e.move_deadline(at(100s));
    EXPECT_EQ(e.advance(at(11s)), stage::killing);
}

TEST(KillSchedule, KillsAtOnceWhenItIsLateAlready) {
    kill_schedule e(at(10s), 1s);
    EXPECT_EQ(e.advance(at(12s)), stage::killing);
}

TEST(KillSchedule, CanBeMadeNow) {
    kill_schedule running(at(10s), 1s);
    running.end_now();
    EXPECT_EQ(running.next(), time_point::min());
    EXPECT_EQ(running.advance(at(0s)), stage::killing);

    kill_schedule terminating(at(10s), 1s);
    terminating.advance(at(9s));
    terminating.end_now();
    EXPECT_EQ(terminating.advance(at(9s)), stage::killing);
}

TEST(KillSchedule, TakesALostHoldsDeadlineForNow) {
    kill_schedule e(at(10s), 1s);
    e.move_deadline(time_point::min());
    EXPECT_EQ(e.advance(at(1s)), stage::killing);
}

TEST(KillSchedule, WithLittleGraceTerminatesAndKillsTogether) {
    kill_schedule e(at(10s), 0s);
    EXPECT_EQ(e.next(), at(10s - kill_schedule::safety));
    EXPECT_EQ(e.advance(e.next()), stage::killing);
}

}  // namespace

}  // namespace latchkey::cli
