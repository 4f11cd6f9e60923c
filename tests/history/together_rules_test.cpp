// What the checker knows of several locks at once: histories that are fine, and each with one thing
// wrong.
#include "history.hpp"
#include "story.hpp"

#include <gtest/gtest.h>

namespace latchkey::history {
namespace {

/// One who wants both, behind one who has the second.
struct both : story {
    turn& single = asked(1, 10, 1, {.locks = {"/b"}});
    turn& at_a = asked(2, 11, 1.5, {.locks = {"/a", "/b"}});
    turn& at_b = asked(2, 11, 1.5, {.locks = {"/a", "/b"}});

    explicit both(double granted_at = 2.1) {
        at_b.lock = "/b";
        created(single, 10, 1, "/b/_c_x-lock-0000000001");
        granted(single, 1.1, 4);
        created(at_a, 11, 1.5, "/a/_c_y-lock-0000000001");
        created(at_b, 11, 1.5, "/b/_c_y-lock-0000000002");
        ended(single, 2);
        gone(single, 12, 2.001);
        granted(at_a, granted_at, granted_at + 2);
        granted(at_b, granted_at, granted_at + 2);
        ended(at_a, granted_at + 1);
        ended(at_b, granted_at + 1);
        gone(at_a, 13, granted_at + 1.001);
        gone(at_b, 13, granted_at + 1.001);
    }
};

TEST(HistoryTogether, FindsNothingWrongWithAllAtOnce) {
    both s;
    const verdict v = s.judged();
    EXPECT_EQ(broken(v), "") << v.violations.front().text;
}

TEST(HistoryTogether, AllowsATokenFromAfterTheCreationUntilTheNextOnes) {
    both s;
    s.at_a.token = s.at_b.token = 12;
    EXPECT_EQ(broken(s.judged()), "");
    turn& behind = s.asked(3, 14, 2.5, {.locks = {"/b"}});
    s.created(behind, 14, 3.2, "/b/_c_z-lock-0000000003");
    s.granted(behind, 3.3, 5);
    s.ended(behind, 4);
    s.gone(behind, 15, 4.001);
    EXPECT_EQ(broken(s.judged()), "");
    s.at_a.token = s.at_b.token = 14;
    EXPECT_EQ(broken(s.judged()), "token");
}

TEST(HistoryTogether, RefusesAPlaceInOnlyOneQueue) {
    both s;
    s.told().transactions[1].changes.pop_back();
    s.at_b.znodes.clear();
    EXPECT_NE(broken(s.judged()).find("torn"), std::string::npos);
}

TEST(HistoryTogether, RefusesPlacesThatWereTakenOneAfterTheOther) {
    both s;
    s.told().transactions.insert(s.told().transactions.begin() + 2,
                                 {.zxid = 12,
                                  .session = 102,
                                  .wall_ms = 1'500,
                                  .changes = {s.told().transactions[1].changes[1]}});
    s.told().transactions[1].changes.pop_back();
    s.told().transactions[3].zxid = 13;
    s.told().transactions[4].zxid = 14;
    EXPECT_NE(broken(s.judged()).find("torn"), std::string::npos);
}

TEST(HistoryTogether, RefusesAReleaseInParts) {
    both s;
    s.told().transactions.push_back({.zxid = 14,
                                     .session = 102,
                                     .wall_ms = 3'102,
                                     .changes = {s.told().transactions.back().changes[1]}});
    s.told().transactions[3].changes.pop_back();
    EXPECT_EQ(broken(s.judged()), "torn");
    s.disturbed("cut connections", 3.05, 3.1, 2);
    EXPECT_EQ(broken(s.judged()), "") << "nobody knew whether they had been deleted at once";
}

TEST(HistoryTogether, WaitsForTheLastOfTheQueues) {
    EXPECT_EQ(broken(both(5.9).judged()), "") << "the first of /a since 1.5 s, of both since 2";
    EXPECT_EQ(broken(both(6.1).judged()), "lost wake-up");
}

}  // namespace
}  // namespace latchkey::history
