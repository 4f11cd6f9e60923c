// Who waits too long, and what stays behind; patience is 4 s here, and a disturbance excuses 3 s
// more.
#include "history.hpp"
#include "story.hpp"

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// The first one leaves at 2 s; the second one is granted at `at`.
struct waiting : story {
    turn& first = queued(1, 10, 1);
    turn& second = queued(2, 11, 1.5);

    explicit waiting(double at) {
        granted(first, 1.1, 4);
        ended(first, 2);
        gone(first, 12, 2.001);
        granted(second, at, at + 3);
        ended(second, at + 1);
        gone(second, 13, at + 1.001);
    }
};

TEST(HistoryLiveness, FindsAWakeUpThatCameTooLate) {
    EXPECT_EQ(broken(waiting(5.9).judged()), "");
    EXPECT_EQ(broken(waiting(6.1).judged()), "lost wake-up");
}

TEST(HistoryLiveness, ExcusesTheTimeOfADisturbanceAndOfSettling) {
    waiting excused(11);
    excused.disturbed("kill of the leader", 3, 6);  // and until 9
    EXPECT_EQ(broken(excused.judged()), "");
    waiting late(14);
    late.disturbed("kill of the leader", 3, 6);
    EXPECT_EQ(broken(late.judged()), "lost wake-up");
}

TEST(HistoryLiveness, CountsOverlappingDisturbancesOnce) {
    waiting late(15);
    late.disturbed("kill of the leader", 3, 6);
    late.disturbed("pause", 4, 5);
    EXPECT_EQ(broken(late.judged()), "lost wake-up");
}

TEST(HistoryLiveness, DoesNotExcuseOneWorkerWithTheTroubleOfAnother) {
    waiting other(11);
    other.disturbed("stop", 3, 6, 1);
    EXPECT_EQ(broken(other.judged()), "lost wake-up");
    waiting own(11);
    own.disturbed("stop", 3, 6, 2);
    EXPECT_EQ(broken(own.judged()), "");
}

TEST(HistoryLiveness, FindsAWaiterThatIsNeverGranted) {
    story s;
    turn& first = s.queued(1, 10, 1);
    turn& second = s.queued(2, 11, 1.5);
    s.granted(first, 1.1, 4);
    s.ended(first, 2);
    s.gone(first, 12, 2.001);
    s.ended(second, 50);
    s.gone(second, 13, 50.001);
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
}

TEST(HistoryLiveness, FindsATurnThatNeverQueues) {
    waiting s(2.1);
    turn idle;
    idle.worker = 3;
    idle.lock = story::lock;
    idle.invoked = story::time(2);
    idle.ended = story::time(7);
    s.told().turns.push_back(idle);
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
    s.told().turns.back().ended = story::time(5);
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryLiveness, FindsAZnodeThatStaysAfterItsRelease) {
    story s;
    turn& only = s.queued(1, 10, 1);
    s.granted(only, 1.1, 4);
    s.ended(only, 2);
    s.gone(only, 12, 7);
    EXPECT_EQ(broken(s.judged()), "orphan");
}

TEST(HistoryLiveness, FindsAZnodeThatIsStillThereAtTheEnd) {
    story s;
    turn& only = s.queued(1, 10, 1);
    s.granted(only, 1.1, 4);
    s.ended(only, 98);
    EXPECT_EQ(broken(s.judged(99)), "orphan");
}

TEST(HistoryLiveness, FindsAZnodeThatOutlivesItsProcess) {
    const auto after = [](double gone) {
        story s;
        turn& only = s.queued(1, 10, 1);
        s.granted(only, 1.1, 4);
        s.killed(2, 1);
        s.expired(only, 12, gone);
        return broken(s.judged());
    };
    EXPECT_EQ(after(5), "");
    EXPECT_EQ(after(10), "orphan");
}

TEST(HistoryLiveness, MeasuresTheTakeoverFromAKilledHolder) {
    story s;
    turn& first = s.queued(1, 10, 1);
    turn& second = s.queued(2, 11, 1.5);
    s.granted(first, 1.1, 4);
    s.killed(2, 1);
    s.expired(first, 12, 5);
    s.granted(second, 5.1, 8);
    s.ended(second, 6);
    s.gone(second, 13, 6.001);
    verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    ASSERT_EQ(v.takeover.count(), 1U);
    EXPECT_EQ(v.takeover.quantile(1), story::time(3.1));
    EXPECT_EQ(v.takeover_undisturbed.count(), 1U);
    s.disturbed("pause", 3, 3.5);
    v = s.judged();
    EXPECT_EQ(v.takeover.count(), 1U);
    EXPECT_EQ(v.takeover_undisturbed.count(), 0U);
}

TEST(HistoryLiveness, MeasuresTheRecoveryFromAKilledServer) {
    waiting s(4);
    s.killed(1.8, std::nullopt);
    const verdict v = s.judged();
    ASSERT_EQ(v.recovery.count(), 1U);
    EXPECT_EQ(v.recovery.quantile(1), story::time(4) - story::time(1.8));
}

TEST(HistoryLiveness, TellsHowMuchOfTheTimeWasCalm) {
    waiting s(2.1);
    s.disturbed("pause", 2, 5);
    s.disturbed("stop", 20, 50, 1);
    EXPECT_EQ(s.judged(31).calm, story::time(30 - 6)) << "from 1 s on, and without 2 to 8 s";
}

TEST(HistoryLiveness, TellsOfAnAcquireThatFailed) {
    waiting s(2.1);
    s.second.failure = "no idea";
    EXPECT_EQ(broken(s.judged()), "failure");
}

}  // namespace
}  // namespace latchkey::history
