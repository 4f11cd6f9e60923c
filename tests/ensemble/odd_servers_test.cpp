// Servers that are cut off from the others and do not know it, serve reads without a quorum, or
// grant another session timeout than the one that was asked for. And who is woken by a release, as
// a server counts it.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "tcp_proxy.hpp"
#include "too_slow.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

// ---- cut off ----

// Clients of such a server still look connected, while the others end the session and grant the
// lock to somebody else.
class CutOff : public ::testing::Test {
protected:
    explicit CutOff(bool has_links = false)
        : servers_({.settings = {"syncLimit=150"}, .can_isolate = true, .has_links = has_links}) {}

    /// That server did not know by now that it was cut off, for which it takes half a minute:
    /// syncLimit, in ticks.
    void expect_unaware(int server, const std::string& mode, const time_window& unaware) {
        const std::string says = servers_.mode(server);
        if (unaware.is_over()) {
            GTEST_SKIP() << too_slow << "the server had time to notice that it is cut off";
        }
        EXPECT_EQ(says, mode) << "it did not know";
    }

    static time_window until_it_notices() { return time_window(30s); }

    real_ensemble servers_;
};

TEST_F(CutOff, FollowerCostsTheHoldBeforeAnybodyElseIsGranted) {
    const int follower = servers_.follower();
    contest c(servers_.address(follower), addresses(servers_, follower), 3s);
    const time_window unaware = until_it_notices();
    servers_.isolate(follower);
    c.expect_taken_over_after_the_deadline();
    // The deadline has decided it, not something that the server said.
    const connection_state state = c.first().state();
    const std::int64_t session = c.first().session();
    expect_unaware(follower, "follower", unaware);
    if (!IsSkipped()) {
        EXPECT_NE(state, connection_state::closed);
        EXPECT_NE(session, 0);
    }
}

TEST_F(CutOff, FollowerCostsAReconnectAndNotTheHoldIfThereIsAnotherServer) {
    contest c(addresses(servers_, servers_.leader()), servers_.connect_string(), 30s);
    const int its = servers_.server_of(c.first().session());
    ASSERT_NE(its, 0);
    const time_window unaware = until_it_notices();
    servers_.isolate(its);
    const auto start = boottime_clock::now();
    // A suspension that is over at once may not be told.
    EXPECT_TRUE(eventually([&] {
        const int now = servers_.server_of(c.first().session());
        return now != 0 && now != its;
    })) << "a heartbeat that is not answered costs the connection";
    report("given_up_after", boottime_clock::now() - start);
    expect_unaware(its, "follower", unaware);
    if (!IsSkipped()) {
        EXPECT_TRUE(c.writes(c.first(), "elsewhere"));
        servers_.mend();
        c.expect_kept();
    }
}

class CutOffOneWay : public CutOff {
protected:
    CutOffOneWay() : CutOff(true) {}
};

// As when the followers' side of the network restarts: they know, and elect another; the leader
// hears nothing and believes to lead on.
TEST_F(CutOffOneWay, LeaderThatIsNotToldCostsTheHoldBeforeAnybodyElseIsGranted) {
    const int led = servers_.leader();
    contest c(servers_.address(led), addresses(servers_, led), 3s);
    const time_window unaware = until_it_notices();
    servers_.links().isolate(led, server_links::told::the_others);
    c.expect_taken_over_after_the_deadline();
    expect_unaware(led, "leader", unaware);
}

// ---- read-only, starting ----

TEST(ReadOnlyServer, IsNeverUsed) {
    real_ensemble servers({.java = {"-Dreadonlymode.enabled=true"}});
    contest c(servers.connect_string(), 3s);
    const int left = servers.follower();
    for (int server = 1; server <= servers.size(); ++server) {
        if (server != left) {
            servers.kill(server);
        }
    }
    ASSERT_TRUE(eventually([&] { return servers.mode(left) == "read-only"; }));
    c.expect_lost(loss_reason::deadline_passed);
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

TEST(StartingServer, IsConnectedToWhenItServes) {
    real_ensemble server({.servers = 1});
    server.kill(1);
    client c = client::connect(server.connect_string());
    EXPECT_FALSE(c.wait_connected(2s));
    server.restart(1);
    EXPECT_TRUE(c.wait_connected(60s));
    EXPECT_TRUE(c.exists("/", read_from::quorum));
}

// ---- limits of sessions: the timeout that is granted counts ----

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
    contest c(way.address(), server_.connect_string(), 60s);
    EXPECT_EQ(c.first().session_timeout(), longest);
    way.black_hole();
    c.expect_taken_over_after_the_deadline();
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
    contest c(server_.connect_string(), shortest);
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

// ---- a herd ----

/// One of the server's counters, as `mntr` has it.
long counter(const real_ensemble& ensemble, const std::string& name) {
    const std::string all = '\n' + ensemble.four_letter_word(1, "mntr", 10s);
    const auto line = all.find('\n' + name + '\t');
    return line == std::string::npos ? -1 : std::stol(all.substr(line + name.size() + 2));
}

constexpr int clients = 10;
constexpr int waiters = 100;
constexpr int releases = 50;

TEST(Herd, OneWaiterOfAHundredIsWokenByARelease) {
    std::vector<hold> granted(waiters);
    std::atomic<int> queued = 0;
    std::atomic<int> grants = 0;
    real_ensemble ensemble({.servers = 1});
    const std::string path = real_ensemble::fresh_path();
    std::vector<client> sessions;
    for (int i = 0; i < clients; ++i) {
        // Long, so that hardly a ping and a heartbeat falls into the time that is counted.
        sessions.push_back(client::connect(ensemble.connect_string(), {.session_timeout = 60s}));
    }
    mutex first(sessions.front(), path);
    hold held = first.acquire();
    std::vector<std::unique_ptr<mutex>> queue;
    for (int i = 0; i < waiters; ++i) {
        queue.push_back(
            std::make_unique<mutex>(sessions[static_cast<std::size_t>(i % clients)], path));
        // One after the other, so that neighbours are of different sessions.
        queue.back()->async_acquire({.reserved = [&](const queue_position&) { ++queued; }},
                                    [&granted, &grants, i](std::error_code, hold h) {
                                        granted[static_cast<std::size_t>(i)] = std::move(h);
                                        ++grants;
                                    });
        ASSERT_TRUE(eventually([&] { return queued == i + 1; }));
    }
    // Two watches a waiter: on its predecessor and on its own znode.
    ASSERT_TRUE(eventually([&] { return counter(ensemble, "zk_watch_count") >= 2 * waiters; }))
        << counter(ensemble, "zk_watch_count");

    const auto begin = boottime_clock::now();
    const long before = counter(ensemble, "zk_packets_received");
    held.release();
    for (int i = 0; i < releases; ++i) {
        ASSERT_TRUE(eventually([&] { return grants == i + 1; }));
        granted[static_cast<std::size_t>(i)].release();
    }
    ASSERT_TRUE(eventually([&] { return grants == releases + 1; }));
    const long requests = counter(ensemble, "zk_packets_received") - before;

    // On a slow machine the sessions' pings and heartbeats are many: one each ten seconds at most.
    const auto rounds = (boottime_clock::now() - begin) / 10s + 1;
    // A release is a delete; who is woken lists, as it was not the next one when it last looked,
    // and the server counts the questions that are asked here. A herd would be a hundred each.
    EXPECT_LT(requests, 5 * releases + 2 * clients * rounds);
    EXPECT_GE(requests, releases);
}

}  // namespace
}  // namespace latchkey::test
