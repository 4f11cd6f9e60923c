// Servers that do what few do: serve reads without a quorum, or forget a request for a while.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

TEST(ReadOnlyServer, IsNeverUsed) {
    real_ensemble servers({.java = {"-Dreadonlymode.enabled=true"}});
    contest c({.holders_servers = servers.connect_string(),
               .other_servers = servers.connect_string(),
               .session_timeout = 3s});
    const int left = servers.follower();
    for (int server = 1; server <= servers.size(); ++server) {
        if (server != left) {
            servers.kill(server);
        }
    }
    ASSERT_TRUE(eventually([&] { return servers.mode(left) == "read-only"; }));
    EXPECT_EQ(c.expect_lost(), loss_reason::deadline_passed);
    EXPECT_FALSE(c.second().has());
    // A new client would take whatever it is offered.
    client fresh = client::connect(servers.address(left));
    EXPECT_FALSE(fresh.wait_connected(2s));
    EXPECT_EQ(servers.server_of(c.first().session()), 0);
    servers.mend();
    EXPECT_TRUE(fresh.wait_connected(30s));
    c.first().release();
    c.expect_taken_over();
}

// A server may leave the request of its only client lying until the next one comes
// (ZOOKEEPER-4537, in 3.6.0 to 3.8.0). Whether it does so here is luck; what a client does with a
// server that does not answer is shown by SessionConnect.LeavesASilentServer.
TEST(LoneClient, IsGrantedEachOfManyAcquires) {
    const real_ensemble server({.servers = 1});
    client c = client::connect(server.connect_string(), {.session_timeout = 4s});
    mutex lock(c, real_ensemble::fresh_path());
    std::chrono::nanoseconds worst{0};
    for (int turn = 0; turn < 1500; ++turn) {
        const auto asked = boottime_clock::now();
        hold h = lock.try_acquire_for(60s);
        ASSERT_TRUE(h) << "in turn " << turn;
        worst = std::max(worst, boottime_clock::now() - asked);
        if (turn % 100 == 0) {
            EXPECT_TRUE(h.release_and_wait());
        }
    }
    report("longest_acquire_of_1500", worst);
}

}  // namespace
}  // namespace latchkey::test
