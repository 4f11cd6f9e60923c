// Servers grant another session timeout than the one that was asked for: the granted one counts.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "tcp_proxy.hpp"

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

constexpr auto shortest = 400ms;
constexpr auto longest = 3000ms;

class SessionLimits : public ::testing::Test {
protected:
    real_ensemble server_{{.servers = 1,
                           .settings = {"minSessionTimeout=" + std::to_string(shortest.count()),
                                        "maxSessionTimeout=" + std::to_string(longest.count())}}};
};

TEST_F(SessionLimits, MoreThanTheServersAllowIsBelievedNoLongerThanTheyAllow) {
    tcp_proxy way(server_.address(1));
    contest c({.holders_servers = way.address(),
               .other_servers = server_.connect_string(),
               .session_timeout = 60s});
    EXPECT_EQ(c.first().session_timeout(), longest);
    way.black_hole();
    const time_point deadline = c.first().valid_until();
    EXPECT_LT(deadline, boottime_clock::now() + longest);
    EXPECT_EQ(c.expect_lost(), loss_reason::deadline_passed);
    c.expect_taken_over();
    EXPECT_LT(deadline, c.second().granted_at());
}

TEST_F(SessionLimits, LessThanTheServersAllowLivesAsLongAsTheyAllow) {
    client c = client::connect(server_.connect_string(), {.session_timeout = 100ms});
    mutex lock(c, real_ensemble::fresh_path());
    // On a slow machine the hold may end at once. The longest that 100 ms would be believed is 60.
    EXPECT_TRUE(eventually([&] {
        const hold h = lock.acquire();
        const auto left = h.valid_until() - boottime_clock::now();
        EXPECT_LT(left, shortest);
        return left > 100ms;
    }));
    EXPECT_EQ(c.session_timeout(), shortest);
}

TEST_F(SessionLimits, AtTheMinimumTheLockGoesFromHandToHandAndNeverToTwo) {
    contest c({.holders_servers = server_.connect_string(),
               .other_servers = server_.connect_string(),
               .session_timeout = shortest});
    // Whether it is released or its session ends first: a machine may stand still that long.
    c.first().release();
    EXPECT_TRUE(eventually([&] { return c.second().has(); }));
    EXPECT_FALSE(c.doubled());
    for (int turn = 0; turn < 20; ++turn) {
        competitor& next = turn % 2 == 0 ? c.first() : c.second();
        competitor& last = turn % 2 == 0 ? c.second() : c.first();
        std::atomic<bool> doubled = false;
        next.join([&] { doubled = last.valid(); });
        const fencing_token before = last.token();
        last.release();
        ASSERT_TRUE(eventually([&] { return next.has(); }));
        EXPECT_FALSE(doubled);
        EXPECT_LT(before, next.token());
    }
}

}  // namespace
}  // namespace latchkey::test
