// The links between real servers do what server_links promises.
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "too_slow.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using told = server_links::told;

[[nodiscard]] bool serves(const real_ensemble& servers, int server, const std::string& as) {
    return eventually([&] { return servers.mode(server) == as; });
}

/// A server that leads although `other` thinks it does.
[[nodiscard]] int leader_besides(const real_ensemble& servers, int other) {
    int found = 0;
    EXPECT_TRUE(eventually([&] {
        for (int i = 1; i <= servers.size() && found == 0; ++i) {
            found = i != other && servers.mode(i) == "leader" ? i : 0;
        }
        return found != 0;
    }));
    return found;
}

TEST(ProxiedServers, ElectAnotherLeaderWhileTheOldOneDoesNotKnow) {
    // A leader that is not told takes half a minute to notice.
    real_ensemble servers({.settings = {"syncLimit=150"}, .has_links = true});
    const int first = servers.leader();
    const time_window unaware(std::chrono::seconds(30));
    servers.links().isolate(first, told::the_others);
    const int second = leader_besides(servers, first);
    const std::string mode = servers.mode(first);
    if (unaware.is_over()) {
        GTEST_SKIP() << too_slow << "the old leader had time to notice";
    }
    EXPECT_EQ(mode, "leader");
    servers.links().heal(first);
    EXPECT_TRUE(serves(servers, first, "follower"));
    EXPECT_TRUE(serves(servers, second, "leader"));

    // One that is told gives up at once, and the others do not know.
    servers.links().isolate(second, told::the_server);
    EXPECT_TRUE(serves(servers, second, ""));
    EXPECT_TRUE(serves(servers, first, "follower"));
    servers.links().heal(second);
    EXPECT_TRUE(eventually([&] {
        return !servers.mode(1).empty() && !servers.mode(2).empty() && !servers.mode(3).empty();
    }));
}

TEST(ProxiedServers, LeaveAFollowerBehindThatIsCutOffFromItsLeaderOneWayOrBoth) {
    real_ensemble servers({.settings = {"syncLimit=5"}, .has_links = true});
    const int leader = servers.leader();
    const int follower = servers.follower();
    const time_window unaware(std::chrono::seconds(1));
    servers.links().separate(leader, follower);
    const std::string mode = servers.mode(follower);
    if (unaware.is_over()) {
        GTEST_SKIP() << too_slow << "the follower had time to notice before it was asked";
    }
    EXPECT_EQ(mode, "follower") << "until it notices";
    EXPECT_TRUE(serves(servers, follower, ""));
    EXPECT_TRUE(serves(servers, leader, "leader"));
    servers.links().heal(follower);
    EXPECT_TRUE(serves(servers, follower, "follower"));

    servers.links().stall(follower, leader);
    EXPECT_TRUE(serves(servers, follower, ""));
    EXPECT_TRUE(serves(servers, leader, "leader"));
    servers.links().heal(follower);
    EXPECT_TRUE(serves(servers, follower, "follower"));
}

}  // namespace
}  // namespace latchkey::test
