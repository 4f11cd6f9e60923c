// Connections that carry nothing any more, and nobody is told.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "tcp_proxy.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class BlackHole : public ::testing::Test {
protected:
    BlackHole() {
        const real_ensemble& servers = real_ensemble::shared();
        for (int server = 1; server <= servers.size(); ++server) {
            ways_.push_back(std::make_unique<tcp_proxy>(servers.address(server)));
        }
    }

    [[nodiscard]] contest::setup through_proxies(std::chrono::milliseconds timeout) const {
        std::string list;
        for (const auto& way : ways_) {
            list += (list.empty() ? "" : ",") + way->address();
        }
        return {.holders_servers = list,
                .other_servers = real_ensemble::shared().connect_string(),
                .session_timeout = timeout};
    }

    std::vector<std::unique_ptr<tcp_proxy>> ways_;
};

TEST_F(BlackHole, ToOneServerCostsAReconnectAndNotTheHold) {
    if (ways_.size() < 2) {
        GTEST_SKIP() << "there is one server only";
    }
    contest c(through_proxies(12s));
    const auto in_use = [](const auto& way) { return way->open() > 0; };
    const auto its = std::find_if(ways_.begin(), ways_.end(), in_use);
    ASSERT_NE(its, ways_.end());
    (*its)->black_hole();
    const auto start = boottime_clock::now();
    EXPECT_TRUE(c.writes(c.first(), "elsewhere"));
    report("silence", boottime_clock::now() - start);
    (*its)->pass();
    c.expect_kept();
}

TEST_F(BlackHole, ToAllServersCostsTheHoldAtItsDeadlineWhateverTheCClientKnows) {
    constexpr auto timeout = 3s;
    contest c(through_proxies(timeout));
    const auto session = c.first().session();
    for (const auto& way : ways_) {
        way->black_hole();
    }
    // The C client notices two thirds of the timeout after the last byte that came.
    const time_point deadline = c.first().valid_until();
    EXPECT_LT(deadline, boottime_clock::now() + timeout);
    EXPECT_EQ(c.expect_lost(), loss_reason::deadline_passed);
    EXPECT_EQ(c.first().session(), session) << "nobody can have said that it has ended";
    c.expect_taken_over();
    EXPECT_LT(deadline, c.second().granted_at());
    report("deadline_to_grant", c.second().granted_at() - deadline);

    for (const auto& way : ways_) {
        way->pass();
    }
    c.first().release();
    c.first().join();
    EXPECT_NE(c.first().session(), session);
    c.second().release();
    EXPECT_TRUE(eventually([&] { return c.first().valid(); }));
}

}  // namespace
}  // namespace latchkey::test
