// Callers of one object, who hold after each other in one place.
#include <latchkey/fencing_token.hpp>

#include "history.hpp"
#include "story.hpp"

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// Worker 1 holds twice in one place, and worker 2 after that.
struct shared_place : story {
    turn& first = asked(1, 1, 1, {.locks = {lock}, .silent = true, .shares_place = true});
    turn& second = asked(1, 2, 1, {.locks = {lock}, .silent = true, .shares_place = true});
    turn& other = asked(2, 1, 2, {.locks = {lock}, .silent = true, .shares_place = true});

    shared_place() {
        created(first, 10, 1, znode(10));
        granted_as(first, 1.1, 0);
        saw(first, 2, true, 4);
        ended(first, 2);
        second.znodes = first.znodes;
        granted_as(second, 2.1, 1);
        saw(second, 3, true, 6);
        ended(second, 3);
        created(other, 11, 2.5, znode(11));
        gone(first, 12, 3.1);
        granted_as(other, 3.2, 0);
        ended(other, 4);
        gone(other, 13, 4.1);
    }

    static void granted_as(turn& t, double at, std::uint32_t number) {
        granted(t, at, at + 3);
        const auto created_as = std::stoll(t.znodes.front().substr(znode(0).size() - 10));
        t.token = fencing_token{created_as - 1'000'000'000, number}.value();
    }
};

TEST(SharedPlaces, AreFine) {
    shared_place s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
    EXPECT_EQ(v.grants, 3U);
}

TEST(SharedPlaces, HaveGreaterTokensWithEachTurn) {
    shared_place s;
    s.second.token = s.first.token;
    EXPECT_EQ(broken(s.judged()), "token");
}

TEST(SharedPlaces, HaveTheTokensOfTheirZnode) {
    shared_place s;
    s.second.token += fencing_token::turns / 2 * 3;
    EXPECT_NE(broken(s.judged()).find("token"), std::string::npos);
}

TEST(SharedPlaces, AreHeldByOneAtATime) {
    shared_place s;
    story::saw(s.first, 2.5, true, 4);
    EXPECT_EQ(broken(s.judged()), "overlap");
}

TEST(SharedPlaces, MayStayWhileNoneWaits) {
    shared_place s;
    s.other.granted = {};
    s.other.observations = {};
    s.other.znodes = {};
    s.other.ended = story::time(2.1);
    std::erase_if(s.told().transactions,
                  [](const transaction& t) { return t.zxid == 11 || t.zxid == 13; });
    s.told().transactions.back().wall_ms = 90'000;
    EXPECT_EQ(broken(s.judged()), "");
}

TEST(SharedPlaces, DoNotStayWhileAnotherWaits) {
    shared_place s;
    s.told().transactions[2].wall_ms = 20'000;
    s.told().transactions[3].wall_ms = 22'000;
    s.other.granted = story::time(20.1);
    s.other.observations = {{story::time(20.1), true, story::time(23)}};
    s.other.ended = story::time(21);
    EXPECT_EQ(broken(s.judged()), "orphan");
}

TEST(SharedPlaces, AreGivenToCallersThatWaitForNothingElse) {
    shared_place s;
    turn& forgotten =
        s.asked(1, 3, 2.5, {.locks = {story::lock}, .silent = true, .shares_place = true});
    story::ended(forgotten, 30);
    EXPECT_EQ(broken(s.judged()), "lost wake-up");
}

TEST(SharedPlaces, ThatAreIdleAreInNoCallersWay) {
    shared_place s;
    s.told().transactions[2].wall_ms = 20'000;
    s.told().transactions[3].wall_ms = 22'000;
    s.other.granted = story::time(20.1);
    s.other.observations = {{story::time(20.1), true, story::time(23)}};
    s.other.ended = story::time(21);
    turn& forgotten =
        s.asked(1, 3, 2.5, {.locks = {story::lock}, .silent = true, .shares_place = true});
    story::ended(forgotten, 30);
    EXPECT_NE(broken(s.judged()).find("lost wake-up"), std::string::npos);
}

}  // namespace
}  // namespace latchkey::history
