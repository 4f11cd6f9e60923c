#include "ensemble_fixture.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

TEST_F(Ensemble, ARequestFailsBeforeOrAfterItIsDone) {
    const auto s = connect(0);
    servers().fail_next(operation::create, when::before);
    EXPECT_EQ(s->ask(create("/a")).code, result_code::connection_loss);
    EXPECT_FALSE(servers().exists("/a"));
    ASSERT_TRUE(s->wait_for("connected", s->count("suspended") + 1));
    servers().fail_next(operation::create, when::after, s->id());
    EXPECT_EQ(s->ask(create("/a")).code, result_code::connection_loss);
    EXPECT_TRUE(servers().exists("/a"));
    ASSERT_TRUE(s->wait_for("connected", s->count("suspended") + 1));
    EXPECT_TRUE(s->ask(create("/b")).ok());
}

TEST_F(Ensemble, AFaultConcernsItsSessionItsKindAndItsCount) {
    const auto s = connect(0);
    const auto t = connect(1);
    servers().fail_next(operation::get, when::before, s->id(), 2);
    EXPECT_TRUE(t->ask(request::get("/")).ok());
    EXPECT_TRUE(s->ask(request::exists("/")).ok());
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(s->ask(request::get("/")).code, result_code::connection_loss);
        ASSERT_TRUE(s->wait_for("connected", s->count("suspended") + 1));
    }
    EXPECT_TRUE(s->ask(request::get("/")).ok());
    servers().fail_next(operation::get, when::before, s->id(), 0);
    EXPECT_TRUE(s->ask(request::get("/")).ok());
}

TEST_F(Ensemble, ARequestMayBeRefusedWithAnyCode) {
    const auto s = connect(0);
    servers().refuse_next(operation::create, -125);
    send(*s, {{"1", create("/a")}, {"2", create("/a")}});
    EXPECT_TRUE(s->wait_for("2:ok"));
    EXPECT_EQ(s->answer("1")->code, result_code::quota_exceeded);
}

TEST_F(Ensemble, ARequestMayBeDoneAndAnsweredWithAnotherCode) {
    const auto s = connect(0);
    const auto suspended = s->count("suspended");
    servers().refuse_next(operation::create, -2, s->id(), 1, when::after);
    EXPECT_EQ(s->ask(create("/a")).code, result_code::runtime_inconsistency);
    EXPECT_TRUE(servers().exists("/a"));
    EXPECT_EQ(s->count("suspended"), suspended) << "the connection is kept";
    EXPECT_EQ(s->ask(create("/a")).code, result_code::node_exists);
}

TEST_F(Ensemble, WhatIsLostWithAConnectionEndsWithTheCodeThatTheFaultNames) {
    const auto s = connect(0);
    for (const when w : {when::before, when::after}) {
        const std::string path = w == when::before ? "/before" : "/after";
        servers().fail_next(operation::create, w, s->id(), 1, -7);
        const auto suspended = s->count("suspended");
        EXPECT_EQ(s->ask(create(path)).code, result_code::operation_timeout);
        EXPECT_EQ(servers().exists(path), w == when::after);
        ASSERT_TRUE(s->wait_for("connected", suspended + 1));
    }
}

TEST_F(Ensemble, RequestsAndWatchesAreCounted) {
    const auto s = connect(0);
    const auto t = connect(1);
    servers().reset_counters();
    s->ask(create("/a"));
    const auto w = s->watcher("w");
    s->ask(request::get("/a"), w);
    s->ask(request::get("/a"), w);
    s->ask(request::children("/a"), w);
    EXPECT_EQ(servers().open_watches(), 2U) << "one a path and kind";
    s->ask(request::exists("/a"));
    s->ask(request::sync("/a"));
    t->ask(request::multi({request::check("/a")}));
    t->ask(request::multi({request::check("/a"), request::set("/a", "")}));
    ASSERT_TRUE(s->wait_for("w:changed"));
    t->ask(request::remove("/a"));
    ASSERT_TRUE(s->wait_for("w:deleted"));
    const latchkey::testing::counters of_s = servers().count(s->id());
    EXPECT_EQ(of_s.creates, 1U);
    EXPECT_EQ(of_s.gets, 2U);
    EXPECT_EQ(of_s.children, 1U);
    EXPECT_EQ(of_s.exists, 1U);
    EXPECT_EQ(of_s.syncs, 1U);
    EXPECT_EQ(of_s.watches_set, 3U);
    EXPECT_EQ(of_s.watch_events, 2U);
    EXPECT_EQ(of_s.requests(), 5U) << "what an idle client asks does not count";
    const latchkey::testing::counters of_t = servers().count(t->id());
    EXPECT_EQ(of_t.checks, 1U);
    EXPECT_EQ(of_t.multis, 1U);
    EXPECT_EQ(of_t.removes, 1U);
    EXPECT_EQ(servers().count().requests(), of_s.requests() + of_t.requests());
    EXPECT_EQ(servers().open_watches(), 0U);
    servers().reset_counters();
    EXPECT_EQ(servers().count(), latchkey::testing::counters{});
}

TEST_F(Ensemble, RefusesOptionsThatMakeNoSense) {
    ensemble::options none = stepped_options();
    none.servers = 0;
    EXPECT_THROW(start(none), latchkey::error);
    ensemble::options still = stepped_options();
    still.tick = 0ns;
    EXPECT_THROW(start(still), latchkey::error);
}

}  // namespace
}  // namespace latchkey::test
