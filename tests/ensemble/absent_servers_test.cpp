// All servers are away: shorter than a hold is valid, and longer than a session lives.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"
#include "too_slow.hpp"

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class AllServers : public ::testing::Test {
protected:
    contest::setup sessions_of(std::chrono::milliseconds timeout) const {
        return {.holders_servers = servers_.connect_string(),
                .other_servers = servers_.connect_string(),
                .session_timeout = timeout};
    }

    void strike_all(void (real_ensemble::*strike)(int)) {
        for (int server = 1; server <= servers_.size(); ++server) {
            (servers_.*strike)(server);
        }
    }

    /// Another client, which has waited for the servers as the holder has, is answered when it may
    /// be too late for the holder to hear from them before its deadline.
    [[nodiscard]] static bool answers_too_late(contest& c, time_point deadline) {
        static_cast<void>(c.effect());
        return boottime_clock::now() + c.first().session_timeout() / 10 > deadline;
    }

    real_ensemble& servers_ = real_ensemble::breakable();
};

TEST_F(AllServers, SilentForShorterThanItsValidityLeaveTheHold) {
    // What is left of the validity has to suffice for an election on a slow machine.
    constexpr auto timeout = 30s;
    contest c(sessions_of(timeout));
    strike_all(&real_ensemble::pause);
    // One heartbeat at least has been missed then.
    EXPECT_TRUE(eventually(
        [&] { return c.first().valid_until() - boottime_clock::now() < timeout * 2 / 5; }));
    const time_point deadline = c.first().valid_until();
    servers_.mend();
    if (answers_too_late(c, deadline)) {
        GTEST_SKIP() << too_slow << "no server answered while the hold was valid";
    }
    EXPECT_TRUE(c.writes(c.first(), "afterwards"));
    c.expect_kept();
}

// They are away for as long as it takes to start them: seconds.
TEST_F(AllServers, KilledAndRestartedLeaveTheHold) {
    contest c(sessions_of(60s));
    const auto start = boottime_clock::now();
    const time_point deadline = c.first().valid_until();
    strike_all(&real_ensemble::kill);
    servers_.mend();
    report("away", boottime_clock::now() - start);
    if (answers_too_late(c, deadline)) {
        GTEST_SKIP() << too_slow << "no server answered while the hold was valid";
    }
    EXPECT_TRUE(c.writes(c.first(), "afterwards")) << to_string(c.first().why_lost());
    c.expect_kept();
}

struct absence {
    const char* name;
    void (real_ensemble::*strike)(int);

    friend void PrintTo(const absence& a, std::ostream* out) { *out << a.name; }
};

class LongAbsence : public AllServers, public ::testing::WithParamInterface<absence> {};

TEST_P(LongAbsence, LosesTheHoldAtItsDeadlineAndTheQueueGoesOnAfterwards) {
    constexpr auto timeout = 2s;
    contest c(sessions_of(timeout));
    const auto session = c.second().session();
    strike_all(GetParam().strike);
    const auto away = boottime_clock::now();
    EXPECT_LT(c.first().valid_until(), away + timeout);
    EXPECT_EQ(c.expect_lost(), loss_reason::deadline_passed);
    EXPECT_TRUE(eventually([&] { return c.first().heard(connection_state::lost); }));
    EXPECT_FALSE(c.second().has());
    // Longer than both sessions live; servers that were killed count anew, though.
    EXPECT_TRUE(eventually([&] { return boottime_clock::now() > away + timeout * 3 / 2; }));
    servers_.mend();

    // Its session may have come through, and then its znode stays until its work has ended.
    c.first().release();
    c.expect_taken_over();
    EXPECT_GE(c.second().places(), c.second().session() == session ? 1 : 2);
    // The first one is a participant like any other again.
    c.first().join();
    const fencing_token seconds = c.second().token();
    c.second().release();
    EXPECT_TRUE(eventually([&] { return c.first().valid(); }));
    EXPECT_LT(seconds, c.first().token());
}

INSTANTIATE_TEST_SUITE_P(,
                         LongAbsence,
                         ::testing::Values(absence{"Killed", &real_ensemble::kill},
                                           absence{"Paused", &real_ensemble::pause}),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace latchkey::test
