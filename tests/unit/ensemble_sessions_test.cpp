#include "ensemble_fixture.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

TEST_F(Ensemble, ASessionEndsAtTheTickAfterItsTimeout) {
    ensemble::options how = stepped_options();
    how.servers = 1;
    how.one_way = 0ns;
    start(how);  // a tick of 2 s, a timeout of 6 s
    servers().run_until([&] { return servers().now() % 2s == 0s; }, 1min);
    servers().run_for(2s - servers().now() % 2s + 500ms);
    const auto s = connect(0);
    s->ask(create("/e", ephemeral));
    servers().pause(s->id());
    // Last heard of half a second after a tick: 6.5 s later, rounded up.
    EXPECT_EQ(time_until([&] { return !servers().exists("/e"); }), 7500ms);
    servers().resume(s->id());
}

TEST_F(Ensemble, AFollowerTellsWhomItHeardOfOnlyEveryHalfTick) {
    const auto s = connect(follower());
    s->ask(create("/e", ephemeral));
    servers().run_for(20s);
    servers().black_hole(s->id());
    const ensemble::duration silent = time_until([&] { return !servers().exists("/e"); });
    // Not heard of for up to a third of the timeout before, and for up to half a tick at the
    // leader; then up to a tick of rounding.
    EXPECT_GT(silent, 6s - 2s - 1s);
    EXPECT_LE(silent, 6s + 1s + 2s);
}

TEST_F(Ensemble, ASilentServerCostsTwoThirdsOfTheTimeoutAndIsToldAsSuch) {
    const auto s = connect(follower());
    servers().run_for(10s);
    s->ask(request::get("/"));
    s->on_loop([&] { s->send("r", request::get("/")); });
    servers().black_hole(s->id());
    const std::size_t before = s->count("suspended");
    EXPECT_EQ(time_until([&] { return s->count("suspended") > before; }), 4s);
    ASSERT_TRUE(s->answer("r").has_value());
    EXPECT_EQ(s->answer("r")->code, result_code::operation_timeout);
}

TEST_F(Ensemble, ExpiryIsLearntOnlyByReconnecting) {
    const auto s = connect(follower());
    servers().black_hole(s->id());
    servers().run_for(1min);
    EXPECT_FALSE(alive(*s));
    EXPECT_EQ(s->count("expired"), 0U);
    servers().resume(s->id());
    EXPECT_TRUE(s->wait_for("expired"));
}

TEST_F(Ensemble, APausedClientLearnsAllOfItLate) {
    const auto s = connect(follower());
    s->ask(create("/a"));
    const auto w = s->watcher("w");
    s->ask(request::get("/a"), w);
    servers().pause(s->id());
    servers().remove("/a");
    servers().run_for(1min);
    EXPECT_THAT(s->journal(), ::testing::Not(::testing::Contains("w:deleted")));
    EXPECT_EQ(s->count("expired"), 0U);
    servers().resume(s->id());
    EXPECT_TRUE(s->wait_for("expired"));
    EXPECT_EQ(s->count("w:deleted"), 1U) << "the event was in its socket all the time";
}

TEST_F(Ensemble, ANewLeaderGivesEverySessionAFullTimeout) {
    const int leader = servers().leader();
    const auto s = connect(follower());
    s->ask(create("/e", ephemeral));
    servers().run_for(10s);
    servers().suspend(s->id());
    servers().run_for(3s);
    servers().stop_server(leader);
    ASSERT_TRUE(servers().run_until([&] { return servers().leader() >= 0; }, 1min));
    EXPECT_NE(servers().leader(), leader);
    EXPECT_GE(time_until([&] { return !servers().exists("/e"); }), 6s);
}

TEST_F(Ensemble, ASessionMayBeReplacedWithoutAWord) {
    const auto s = connect(0);
    const std::int64_t id = s->id();
    servers().replace(id);
    servers().cut(id);
    ASSERT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_NE(s->id(), id);
    EXPECT_EQ(s->count("expired"), 0U);
}

}  // namespace
}  // namespace latchkey::test
