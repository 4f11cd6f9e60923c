#include "lock_fixture.hpp"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What becomes of the command when the servers are not well. Each test breaks an ensemble of its
// own.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class own_servers {
protected:
    real_ensemble servers;
};

class LockOutage : protected own_servers, public lock_fixture {
protected:
    LockOutage() : lock_fixture(servers.connect_string()) {}

    void for_all_servers(void (real_ensemble::*act)(int)) {
        for (int server = 1; server <= servers.size(); ++server) {
            (servers.*act)(server);
        }
    }

    /// Waits until that server takes part again: what it says of itself may be from before.
    void writes_through(int server) {
        auto c = client::connect(servers.address(server));
        EXPECT_TRUE(mutex(c, real_ensemble::fresh_path()).try_acquire_for(30s));
    }
};

TEST_F(LockOutage, OfAllServersKillsTheCommand) {
    const auto p = lock_sh({"-t", "4"}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    for_all_servers(&real_ensemble::pause);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    for_all_servers(&real_ensemble::resume);
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_THAT(p->err(), HasSubstr("no server has answered"));
}

TEST_F(LockOutage, GivesTheCommandTimeToEnd) {
    const auto p = lock_sh({"-t", "4", "--grace", "1"},
                           "trap 'echo >$DIR/term; exit 0' TERM; echo $$ >$DIR/main; "
                           "while :; do sleep 0.01; done");
    static_cast<void>(pid_in("main"));
    for_all_servers(&real_ensemble::kill);
    EXPECT_EQ(p->wait(), 76) << p->err();
    EXPECT_TRUE(exists("term"));
}

TEST_F(LockOutage, OfOneServerCostsNothing) {
    // A paused leader would stop the ensemble until another is elected; that is not the claim.
    const int one = servers.follower();
    int other = 1;
    while (other == one || other == servers.leader()) {
        ++other;
    }
    const auto p = lock_sh(
        {"-t", "10", "--verbose", "-z", servers.address(one) + ',' + servers.address(other)},
        "echo $$ >$DIR/main; while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 6");
    const pid_t main = pid_in("main");
    // A hold that follows a silence is believed less long at first.
    EXPECT_FALSE(eventually([&] { return dead(main); }, 4s)) << p->err();
    const auto moved = [&] { return p->err().find("reconnected") != std::string::npos; };
    for (const int server : {one, other}) {
        if (!moved()) {  // it did not use the one that was paused first
            servers.pause(server);
            static_cast<void>(eventually([&] { return moved() || dead(main); }, 8s));
            // Long enough for the hold to end, had it not been renewed elsewhere.
            EXPECT_FALSE(eventually([&] { return dead(main); }, 3s)) << p->err();
            servers.resume(server);
            writes_through(server);
        }
    }
    std::ofstream(folder_ / "go").close();
    EXPECT_EQ(p->wait(), 6) << p->err();
    EXPECT_TRUE(moved());
}

}  // namespace

}  // namespace latchkey::test
