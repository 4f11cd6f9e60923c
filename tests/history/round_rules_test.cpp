// What the checker knows of double barriers: a history that is fine, and each with one thing wrong.
#include "history.hpp"
#include "story.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// Two enter a round of two and leave it.
struct a_round : story {
    turn& one = arrived(1, 10, 1);
    turn& two = arrived(2, 11, 1.5);

    a_round() {
        told().laid_out = layout::rounds;
        told().limit = 2;
        begins(12, 1.6, R"({"version":1,"members":["member-10","member-11"]})");
        granted(one, 1.7, 100);
        granted(two, 1.7, 100);
        one.leaving = time(2);
        gone(one, 13, 2);
        two.leaving = time(3);
        gone(two, 14, 3);
        left(one, 3.1);
        left(two, 3.1);
    }

    turn& arrived(int worker, std::int64_t zxid, double at) {
        turn& t = asked(worker, zxid, at, {.locks = {lock}});
        created(t, zxid, at, std::string(lock) + "/member-" + std::to_string(zxid));
        return t;
    }

    void begins(std::int64_t zxid, double at, const std::string& who) {
        told().transactions.push_back({.zxid = zxid,
                                       .session = 102,
                                       .wall_ms = static_cast<std::int64_t>(at * 1000),
                                       .changes = {{.what = znode_change::kind::created,
                                                    .path = std::string(lock) + "/ready",
                                                    .data = who}}});
    }

    static void left(turn& t, double at) {
        t.ended = time(at);
        t.all_left = true;
    }
};

TEST(HistoryRounds, FindNothingWrongWithThoseWhoEnterAndLeaveTogether) {
    a_round s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 2U);
    EXPECT_EQ(v.hand_over.count(), 2U);
}

TEST(HistoryRounds, RefuseARoundOfTooFew) {
    a_round s;
    s.told().limit = 3;
    EXPECT_EQ(broken(s.judged()), "round");
}

TEST(HistoryRounds, RefuseARoundOfWhichOneIsGoneAlready) {
    a_round s;
    std::swap(s.told().transactions[2], s.told().transactions[3]);
    std::swap(s.told().transactions[2].zxid, s.told().transactions[3].zxid);
    EXPECT_NE(broken(s.judged()).find("round"), std::string::npos);
}

TEST(HistoryRounds, RefuseOneWhoEntersWithoutARound) {
    a_round s;
    s.one.granted = story::time(1.4);
    EXPECT_EQ(broken(s.judged()), "round");
}

TEST(HistoryRounds, RefuseOneWhoIsToldThatAllHaveLeftBeforeTheyHave) {
    a_round s;
    s.left(s.one, 2.9);
    EXPECT_EQ(broken(s.judged()), "round");
}

TEST(HistoryRounds, RefuseOneWhoIsNotToldOfALoss) {
    a_round s;
    s.told().transactions.pop_back();
    s.expired(s.two, 14, 3);
    s.two.leaving.reset();
    EXPECT_EQ(broken(s.judged()), "round");
    s.one.all_left = false;
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(HistoryRounds, FindARoundThatDoesNotBeginThoughEnoughAreThere) {
    const auto begun_at = [](double at) {
        story s;
        s.told().laid_out = layout::rounds;
        s.told().limit = 1;
        turn& only = s.asked(1, 10, 1, {.locks = {story::lock}});
        s.created(only, 10, 1, std::string(story::lock) + "/member-10");
        s.told().transactions.push_back({.zxid = 11,
                                         .session = 101,
                                         .wall_ms = static_cast<std::int64_t>(at * 1000),
                                         .changes = {{.what = znode_change::kind::created,
                                                      .path = std::string(story::lock) + "/ready",
                                                      .data = R"({"members":["member-10"]})"}}});
        s.granted(only, at + 0.1, 100);
        only.leaving = story::time(at + 1);
        s.gone(only, 12, at + 1);
        a_round::left(only, at + 1.1);
        return broken(s.judged());
    };
    EXPECT_EQ(begun_at(4.9), "");
    EXPECT_EQ(begun_at(5.1), "lost wake-up");
}

TEST(HistoryRounds, FindOneWhoIsNotToldThatTheLastHasLeft) {
    a_round s;
    s.left(s.one, 6.9);
    EXPECT_EQ(broken(s.judged()), "");
    s.left(s.one, 7.1);
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
}

TEST(HistoryRounds, FindOneWhoIsNotToldThatTheRoundHasBegun) {
    a_round s;
    s.one.granted = story::time(5.7);
    s.one.leaving = story::time(5.8);
    s.left(s.one, 5.9);
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
}

TEST(HistoryRounds, FindAPlaceThatStays) {
    a_round s;
    s.told().transactions.pop_back();
    EXPECT_EQ(broken(s.judged()), "round, orphan");
}

}  // namespace
}  // namespace latchkey::history
