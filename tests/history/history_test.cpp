// The checker is shown histories that are fine, and each with one thing wrong.
#include "history.hpp"

#include "story.hpp"

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// Two workers, one after the other: each claims, and adds one.
struct two_turns : story {
    turn& first = queued(1, 10, 1);
    turn& second = queued(2, 11, 1.5);

    two_turns() {
        granted(first, 1.1, 4);
        access(first, 1.2, true);
        access(first, 1.3, true, 1);
        saw(first, 2, true, 4);
        ended(first, 2);
        gone(first, 12, 2.001);
        granted(second, 2.1, 5);
        access(second, 2.2, true);
        access(second, 2.3, true, 2);
        ended(second, 3);
        gone(second, 13, 3.001);
    }
};

TEST(HistoryChecker, FindsNothingWrongWithOneAfterTheOther) {
    two_turns s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 2U);
    EXPECT_EQ(v.effects, 2U);
    EXPECT_EQ(v.overlaps, 0U);
    EXPECT_EQ(v.fenced_off, 0U);
    ASSERT_EQ(v.hand_over.count(), 1U);
    EXPECT_EQ(v.hand_over.quantile(0.5), story::time(2.1) - story::time(2.001));
}

TEST(HistoryChecker, FindsEachThingThatIsWrong) {
    expect_broken<two_turns>({
        {"a token that no create has", [](auto& s) { s.second.token = 99; }, "token, lost update"},
        {"a znode of another session", [](auto& s) { s.second.session = 101; }, "token"},
        {"a znode of nobody", [](auto& s) { s.second.znodes = {"/lock/other"}; }, "token"},
        {"an earlier token after a later one",
         [](auto& s) { s.first.granted = s.first.observations.front().at = s.time(2.5); },
         "token, overlap"},
        {"a predecessor that is there",
         [](auto& s) { s.told().transactions[2].wall_ms = 2'500; },
         "order"},
        {"belief past the own deadline",
         [](auto& s) { s.first.observations.back().valid_until = s.time(1.9); },
         "overlap"},
        {"a hold that comes back",
         [](auto& s) { s.first.observations.front().valid = false; },
         "overlap"},
        {"a register that refuses the holder",
         [](auto& s) {
             s.told().accesses.back().accepted = false;
             s.second.effects.back().applied = false;
         },
         "fence"},
        {"a write over something else than was read",
         [](auto& s) { s.told().accesses.back().written = 1; },
         "lost update"},
        {"an acknowledged write that is not there",
         [](auto& s) { s.told().accesses.pop_back(); },
         "lost update"},
        {"a write whose answer was lost", [](auto& s) { s.second.effects.clear(); }, ""},
    });
}

TEST(HistoryChecker, RefusesAGrantBehindSomebodyWhoStays) {
    story s;
    turn& first = s.queued(1, 10, 1);
    turn& second = s.queued(2, 11, 1.5);
    s.granted(second, 2, 5);
    s.ended(second, 3);
    s.gone(second, 12, 3.001);
    s.ended(first, 4);
    s.gone(first, 13, 4.001);
    EXPECT_EQ(broken(s.judged()), "order");
}

TEST(HistoryChecker, RefusesBeliefAfterTheZnodeIsGone) {
    story s;
    turn& only = s.queued(1, 10, 1);
    s.granted(only, 1.1, 4);
    s.gone(only, 11, 2);
    s.saw(only, 2.1, true, 4);
    s.ended(only, 3);
    EXPECT_EQ(broken(s.judged()), "overlap");
}

TEST(HistoryChecker, RefusesTwoWhoBelieveAtOnce) {
    two_turns s;
    story::saw(s.first, 2.2, true, 4);
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "overlap");
    EXPECT_EQ(v.overlaps, 0U) << "it is not an explained one";
}

/// The holder is stopped from 2 to 8 s; its session ends at 5 s and another one takes over.
struct late_holder : story {
    turn& first = queued(1, 10, 1);
    turn& second = queued(2, 11, 1.5);

    late_holder() {
        granted(first, 1.1, 4);
        access(first, 1.2, true);
        saw(first, 2, true, 4);
        disturbed("stop", 2, 8, 1);
        expired(first, 12, 5);
        granted(second, 5.1, 8);
        access(second, 5.2, true);
        access(second, 5.3, true, 1);
        ended(second, 6);
        gone(second, 13, 6.001);
    }
};

TEST(HistoryChecker, CountsAnOverlapThatTheFenceMadeHarmless) {
    late_holder s;
    s.access(s.first, 8, false, 1);
    s.saw(s.first, 8.1, false, 4);
    s.ended(s.first, 8.2);
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.overlaps, 1U);
    EXPECT_EQ(v.fenced_off, 1U);
    EXPECT_EQ(v.lost_holds, 1U);
}

TEST(HistoryChecker, RefusesARegisterThatTakesALowerToken) {
    late_holder s;
    s.access(s.first, 8, true, 1);
    s.saw(s.first, 8.1, false, 4);
    s.ended(s.first, 8.2);
    EXPECT_EQ(broken(s.judged()), "fence, lost update");
}

TEST(HistoryChecker, GivesQuantilesOfASample) {
    const sample s{{nanoseconds(3), nanoseconds(1), nanoseconds(2), nanoseconds(4)}};
    EXPECT_EQ(s.quantile(0.5), nanoseconds(2));
    EXPECT_EQ(s.quantile(0.99), nanoseconds(4));
    EXPECT_EQ(s.quantile(0), nanoseconds(1));
}

}  // namespace
}  // namespace latchkey::history
