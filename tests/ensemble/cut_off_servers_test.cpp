// Servers that are cut off from the others and do not know it: their clients still look connected,
// while the others end the session and grant the lock to somebody else.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "too_slow.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class CutOff : public ::testing::Test {
protected:
    /// A server that is cut off does not know for so long: syncLimit, in ticks.
    static constexpr auto until_it_notices = 30s;

    explicit CutOff(bool has_links = false)
        : servers_({.settings = {"syncLimit=150"}, .can_isolate = true, .has_links = has_links}) {}

    /// All servers but one.
    [[nodiscard]] std::string all_but(int server) const {
        std::string list;
        for (int other = 1; other <= servers_.size(); ++other) {
            if (other != server) {
                list += (list.empty() ? "" : ",") + servers_.address(other);
            }
        }
        return list;
    }

    /// The first one's hold ends, in time, and then the second one is granted the lock.
    void expect_lost_before_granted(contest& c, const std::string& figure) {
        time_point deadline = c.first().valid_until();
        EXPECT_TRUE(eventually([&] {
            const time_point next = c.first().valid_until();
            deadline = std::max(deadline, next);
            return !c.first().valid();
        }));
        EXPECT_EQ(c.expect_lost(), loss_reason::deadline_passed);
        // Its znode goes with its session: it is not released.
        c.expect_taken_over();
        EXPECT_LT(deadline, c.second().granted_at());
        report(figure, c.second().granted_at() - deadline);
    }

    real_ensemble servers_;
};

TEST_F(CutOff, FollowerCostsTheHoldBeforeAnybodyElseIsGranted) {
    const int follower = servers_.follower();
    contest c({.holders_servers = servers_.address(follower),
               .other_servers = all_but(follower),
               .session_timeout = 3s});
    const time_window unaware(until_it_notices);
    servers_.isolate(follower);
    expect_lost_before_granted(c, "follower_cut_off_deadline_to_grant");
    const std::string mode = servers_.mode(follower);
    if (unaware.is_over()) {
        GTEST_SKIP() << too_slow << "the server had time to notice that it is cut off";
    }
    EXPECT_EQ(mode, "follower") << "it did not know";
    // The deadline has decided it, not something that the server said.
    EXPECT_NE(c.first().state(), connection_state::closed);
    EXPECT_NE(c.first().session(), 0);
    servers_.heal(follower);
}

TEST_F(CutOff, FollowerCostsAReconnectAndNotTheHoldIfThereIsAnotherServer) {
    contest c({.holders_servers = all_but(servers_.leader()),
               .other_servers = servers_.connect_string(),
               .session_timeout = 30s});
    const int its = servers_.server_of(c.first().session());
    ASSERT_NE(its, 0);
    const time_window unaware(until_it_notices);
    servers_.isolate(its);
    const auto start = boottime_clock::now();
    // A suspension that is over at once may not be told.
    EXPECT_TRUE(eventually([&] {
        const int now = servers_.server_of(c.first().session());
        return now != 0 && now != its;
    })) << "a heartbeat that is not answered costs the connection";
    const std::string mode = servers_.mode(its);
    if (unaware.is_over()) {
        GTEST_SKIP() << too_slow << "the server had time to notice that it is cut off";
    }
    EXPECT_TRUE(c.first().valid());
    EXPECT_EQ(mode, "follower") << "it did not know";
    report("given_up_after", boottime_clock::now() - start);
    EXPECT_TRUE(c.writes(c.first(), "elsewhere"));
    servers_.mend();
    c.expect_kept();
}

class CutOffOneWay : public CutOff {
protected:
    CutOffOneWay() : CutOff(true) {}
};

// As when the followers' side of the network restarts: they know, and elect another; the leader
// hears nothing and believes to lead on.
TEST_F(CutOffOneWay, LeaderThatIsNotToldCostsTheHoldBeforeAnybodyElseIsGranted) {
    const int led = servers_.leader();
    contest c({.holders_servers = servers_.address(led),
               .other_servers = all_but(led),
               .session_timeout = 3s});
    const time_window unaware(until_it_notices);
    servers_.links().isolate(led, server_links::told::the_others);
    expect_lost_before_granted(c, "leader_cut_off_deadline_to_grant");
    const std::string mode = servers_.mode(led);
    if (unaware.is_over()) {
        GTEST_SKIP() << too_slow << "the server had time to notice that it is cut off";
    }
    EXPECT_EQ(mode, "leader") << "it did not know";
    servers_.heal(led);
}

}  // namespace
}  // namespace latchkey::test
