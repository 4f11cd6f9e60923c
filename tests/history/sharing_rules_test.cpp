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

    /// Until 20 s, though another one waits.
    void keeps_place() {
        told().transactions[2].wall_ms = 20'000;
        told().transactions[3].wall_ms = 22'000;
        other.granted = time(20.1);
        other.observations = {{time(20.1), true, time(23)}};
        other.ended = time(21);
    }

    void forgets_one() {
        ended(asked(1, 3, 2.5, {.locks = {lock}, .silent = true, .shares_place = true}), 30);
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

TEST(SharedPlaces, FindEachThingThatIsWrong) {
    expect_broken<shared_place>({
        {"a token that stays", [](auto& s) { s.second.token = s.first.token; }, "token"},
        {"a token of another znode",
         [](auto& s) { s.second.token += fencing_token::turns / 2 * 3; },
         "token, overlap"},
        {"two at a time", [](auto& s) { s.saw(s.first, 2.5, true, 4); }, "overlap"},
        {"a place that stays while another waits", [](auto& s) { s.keeps_place(); }, "orphan"},
        {"a caller that is forgotten", [](auto& s) { s.forgets_one(); }, "lost wake-up"},
        {"a caller that is forgotten, with an idle place",
         [](auto& s) {
             s.keeps_place();
             s.forgets_one();
         },
         "lost wake-up, orphan"},
    });
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

}  // namespace
}  // namespace latchkey::history
