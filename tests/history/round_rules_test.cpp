// What the checker knows of double barriers: a history that is fine, and each with one thing wrong.
// The mutants of mutants_double_barrier.txt hold the other rules.
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
        leaves(one, 13, 2);
        two.leaving = time(3);
        leaves(two, 14, 3);
        log(15, 102, 3, {.what = znode_change::kind::removed, .path = "/lock/ready"});
        left(one, 3.1);
        left(two, 3.1);
    }

    turn& arrived(int worker, std::int64_t zxid, double at) {
        turn& t = asked(worker, zxid, at, {.locks = {lock}});
        created(t, zxid, at, std::string(lock) + "/member-" + std::to_string(zxid));
        return t;
    }

    void begins(std::int64_t zxid, double at, const std::string& who) {
        log(zxid, 102, at, {.path = "/lock/ready", .data = who});
    }

    /// Its znode goes, and that is counted.
    void leaves(const turn& t, std::int64_t zxid, double at) {
        gone(t, zxid, at);
        log(zxid, t.session, at, {.what = znode_change::kind::changed, .path = lock});
    }

    static void left(turn& t, double at) {
        t.ended = time(at);
        t.all_left = true;
    }

    /// The second is lost instead of leaving.
    void lose_two() {
        told().transactions.resize(4);
        expired(two, 14, 3);
        two.leaving.reset();
    }
};

TEST(HistoryRounds, FindNothingWrongWithThoseWhoEnterAndLeaveTogether) {
    a_round s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 2U);
    EXPECT_EQ(v.hand_over.count(), 2U);
}

TEST(HistoryRounds, FindEachThingThatIsWrong) {
    expect_broken<a_round>({
        {"a round of too few", [](auto& s) { s.told().limit = 3; }, "round"},
        {"a grant without a round", [](auto& s) { s.one.granted = s.time(1.4); }, "round"},
        {"a leave before all have left", [](auto& s) { s.left(s.one, 2.9); }, "farewell"},
        {"a loss that is not told", [](auto& s) { s.lose_two(); }, "farewell"},
        {"a place that stays",
         [](auto& s) { s.told().transactions.resize(4); },
         "orphan, farewell"},
        {"a leave that is told in time", [](auto& s) { s.left(s.one, 6.9); }, ""},
        {"a leave that is told late", [](auto& s) { s.left(s.one, 7.1); }, "lost wake-up"},
        {"a beginning that is told late",
         [](auto& s) {
             s.one.granted = s.time(5.7);
             s.one.leaving = s.time(5.8);
             s.left(s.one, 5.9);
         },
         "lost wake-up"},
    });
}

TEST(HistoryRounds, FindARoundThatDoesNotBeginThoughEnoughAreThere) {
    const auto begun_at = [](double at) {
        story s;
        s.told().laid_out = layout::rounds;
        s.told().limit = 1;
        turn& only = s.asked(1, 10, 1, {.locks = {story::lock}});
        s.created(only, 10, 1, "/lock/member-10");
        s.log(11, 101, at, {.path = "/lock/ready", .data = R"({"members":["member-10"]})"});
        s.granted(only, at + 0.1, 100);
        s.killed(at + 1, 1);
        s.expired(only, 12, at + 4);
        return broken(s.judged());
    };
    EXPECT_EQ(begun_at(4.9), "");
    EXPECT_EQ(begun_at(5.1), "lost wake-up");
}

}  // namespace
}  // namespace latchkey::history
