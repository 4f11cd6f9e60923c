#include <latchkey/error.hpp>

#include "ensemble_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::IsEmpty;

TEST_F(Ensemble, AnIsolatedFollowerAnswersFromItsPastAndItsWritesHang) {
    const int cut_off = follower();
    const auto behind = connect(cut_off);
    const auto other = connect(servers().leader());
    other->ask(create("/a"));
    servers().run_for(1s);
    servers().isolate(cut_off);
    EXPECT_TRUE(other->ask(request::remove("/a")).ok());
    EXPECT_TRUE(behind->ask(request::get("/a")).ok()) << "it cannot know";
    send(*behind, {{"sync", request::sync("/")}, {"write", create("/b")}});
    servers().run_for(3s);
    EXPECT_THAT(behind->entries("sync"), IsEmpty());
    EXPECT_THAT(behind->entries("write"), IsEmpty());
    // After the sync limit it gives up, and its clients go elsewhere.
    EXPECT_TRUE(behind->wait_for("suspended"));
    EXPECT_TRUE(behind->wait_for("connected", behind->count("connected") + 1));
    EXPECT_NE(server_of(*behind), cut_off);
    EXPECT_EQ(behind->ask(request::get("/a")).code, result_code::no_node);
}

TEST_F(Ensemble, TheQuorumEndsASessionWhoseFollowerIsCutOffWhileItsClientIsAtEase) {
    const int cut_off = follower();
    const auto behind = connect(cut_off);
    behind->ask(create("/e", ephemeral));
    servers().run_for(5s);
    servers().isolate(cut_off);
    EXPECT_LE(time_until([&] { return !servers().exists("/e"); }), 9s);
    EXPECT_EQ(behind->count("suspended"), behind->count("connected") - 1);
    EXPECT_TRUE(behind->ask(request::exists("/e")).ok());
    EXPECT_TRUE(behind->wait_for("expired"));
}

TEST_F(Ensemble, HealingInTimeDeliversWhatWasHeldBack) {
    const int cut_off = follower();
    const auto behind = connect(cut_off);
    servers().isolate(cut_off);
    behind->on_loop([&] { behind->send("write", create("/b")); });
    servers().run_for(2s);
    servers().heal(cut_off);
    EXPECT_TRUE(behind->wait_for("write:ok"));
    EXPECT_EQ(behind->count("suspended"), behind->count("connected") - 1);
}

TEST_F(Ensemble, ADeposedLeaderAnswersReadsForAWhileAndNoWrites) {
    const int deposed = servers().leader();
    const auto behind = connect(deposed);
    behind->ask(create("/a"));
    depose_leader();
    const auto other = connect();
    EXPECT_NE(server_of(*other), deposed) << "nobody is new at the deposed one";
    EXPECT_TRUE(other->ask(request::remove("/a")).ok());
    EXPECT_TRUE(behind->ask(request::get("/a")).ok()) << "removed, and still there";
    behind->on_loop([&] { behind->send("write", create("/b")); });
    EXPECT_TRUE(behind->wait_for("write:lost")) << "it finds out";
    ASSERT_TRUE(behind->wait_for("connected", behind->count("suspended") + 1));
    EXPECT_NE(server_of(*behind), deposed);
    EXPECT_EQ(behind->ask(request::get("/a")).code, result_code::no_node);
    EXPECT_FALSE(servers().exists("/b"));
}

TEST_F(Ensemble, ADeposedLeaderTellsClientsThatTheirSessionIsOver) {
    const int deposed = servers().leader();
    const auto s = connect(follower());
    s->ask(create("/e", ephemeral));
    servers().run_for(3s);
    servers().isolate(deposed);
    // It has not heard of the session for longer than its timeout, and cannot end it either.
    servers().run_for(9s);
    servers().move(s->id(), deposed);
    EXPECT_TRUE(s->wait_for("expired"));
    ASSERT_TRUE(servers().run_until([&] { return servers().leader() != deposed; }, 1min));
    EXPECT_TRUE(servers().exists("/e")) << "to the others it is alive";
}

TEST_F(Ensemble, ASyncProvesNoQuorum) {
    const int deposed = servers().leader();
    const auto behind = connect(deposed);
    behind->ask(create("/a"));
    depose_leader();
    servers().remove("/a");
    send(*behind, {{"sync", request::sync("/a")}, {"get", request::get("/a")}});
    EXPECT_TRUE(behind->wait_for("sync:ok"));
    EXPECT_TRUE(behind->wait_for("get:ok")) << "removed by the quorum, and still there";
}

TEST_F(Ensemble, WithoutAMajorityNoWriteIsAnsweredAndClientsAreDropped) {
    const auto s = connect(servers().leader());
    servers().stop_server(follower());
    EXPECT_TRUE(s->ask(create("/two-are-enough")).ok());
    servers().stop_server(follower(1));
    servers().stop_server(follower(0));
    s->on_loop([&] { s->send("write", create("/a")); });
    EXPECT_TRUE(s->wait_for("write:lost"));
    servers().run_for(20s);
    EXPECT_EQ(servers().leader(), -1);
    EXPECT_THROW(servers().create("/b"), latchkey::error);
    for (int i = 0; i < 3; ++i) {
        servers().start_server(i);
    }
    ASSERT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_EQ(s->ask(request::exists("/two-are-enough")).code, result_code::ok);
}

// Sessions do not say what they have seen: the C client tells a server only what one connection of
// it was told. Other clients do, and are refused.
TEST_F(Ensemble, ADeposedLeaderThatNeverHeardOfASessionSaysThatItIsOver) {
    const int deposed = servers().leader();
    depose_leader();
    const auto s = connect();
    s->ask(create("/a"));
    const std::int64_t id = s->id();
    servers().move(id, deposed);
    ASSERT_TRUE(s->wait_for("expired"));
    const auto all = servers().sessions();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [id](const auto& one) {
        return one.id == id && one.alive;
    })) << "the others know better";
}

TEST_F(Ensemble, ASyncWaitsForWhatIsProposed) {
    ensemble::options how = stepped_options();
    how.between_servers = 10ms;
    start(how);
    const auto s = connect(follower());
    const auto other = connect(servers().leader());
    other->on_loop([&] { other->send("create", create("/a")); });
    servers().run_for(1ms);
    send(*s, {{"sync", request::sync("/a")}, {"get", request::get("/a")}});
    EXPECT_TRUE(s->wait_for("get:ok"));
}

TEST_F(Ensemble, ALaggingFollowerShowsThePastUntilASync) {
    const int late = follower();
    const auto behind = connect(late);
    const auto other = connect(servers().leader());
    servers().lag(late, 500ms);
    other->ask(create("/a"));
    EXPECT_EQ(behind->ask(request::get("/a")).code, result_code::no_node);
    send(*behind, {{"sync", request::sync("/a")}, {"get", request::get("/a")}});
    EXPECT_TRUE(behind->wait_for("get:ok"));
}

TEST_F(Ensemble, ALateRequestOfASessionThatMovedIsRefused) {
    const int late = follower(0);
    const auto s = connect(late);
    // The request waits between the servers while its session comes back elsewhere.
    servers().isolate(late);
    s->on_loop([&] { s->send("write", create("/late")); });
    servers().run_for(10ms);
    const std::size_t before = s->count("connected");
    servers().move(s->id(), servers().leader());
    ASSERT_TRUE(s->wait_for("connected", before + 1));
    EXPECT_EQ(s->answer("write")->code, result_code::connection_loss);
    servers().heal(late);
    servers().run_for(1s);
    EXPECT_FALSE(servers().exists("/late"));
    EXPECT_TRUE(s->ask(create("/in-time")).ok());
}

TEST_F(Ensemble, ALateRequestIsDoneWhenItsSessionComesBackThroughTheSameServer) {
    const int late = follower(0);
    const auto s = connect(late);
    servers().isolate(late);
    s->on_loop([&] { s->send("write", create("/late")); });
    servers().run_for(10ms);
    const std::size_t before = s->count("connected");
    servers().move(s->id(), late);  // its revalidation queues up behind the request
    servers().run_for(50ms);
    servers().heal(late);
    ASSERT_TRUE(s->wait_for("connected", before + 1));
    EXPECT_TRUE(s->ask(request::get("/late")).ok());
}

TEST_F(Ensemble, CommittedWritesSurviveEveryChangeOfLeader) {
    const auto s = connect(follower());
    std::vector<std::string> written;
    for (int i = 0; i < 12; ++i) {
        const int leader = servers().leader();
        servers().stop_server(leader);
        for (int k = 0; k < 50 && written.size() < static_cast<std::size_t>(i) + 1; ++k) {
            const std::string path = "/w" + std::to_string(i) + "-" + std::to_string(k);
            if (s->ask(create(path)).ok()) {
                written.push_back(path);
            }
            servers().run_for(50ms);
        }
        servers().start_server(leader);
        servers().run_for(1s);
    }
    EXPECT_EQ(written.size(), 12U);
    for (const std::string& path : written) {
        EXPECT_TRUE(servers().exists(path)) << path;
    }
}

TEST_F(Ensemble, NobodyGoesBackToALeaderThatWasDeposed) {
    const int deposed = servers().leader();
    const auto s = connect(follower());
    servers().pause_server(deposed);
    ASSERT_TRUE(servers().run_until(
        [&] { return servers().leader() >= 0 && servers().leader() != deposed; }, 60s));
    ASSERT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    ASSERT_TRUE(s->ask(create("/written")).ok());
    // The one that knows of it besides the new leader must not follow the old one.
    servers().stop_server(servers().leader());
    servers().resume_server(deposed);
    servers().run_for(60s);
    EXPECT_TRUE(servers().exists("/written"));
}

TEST_F(Ensemble, APausedServerIsSilentAndItsClientsMoveOn) {
    const int paused = follower();
    const auto s = connect(paused);
    servers().pause_server(paused);
    s->on_loop([&] { s->send("r", request::get("/")); });
    EXPECT_TRUE(s->wait_for("suspended", s->count("suspended") + 1));
    EXPECT_EQ(s->answer("r")->code, result_code::operation_timeout);
    EXPECT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_NE(server_of(*s), paused);
    EXPECT_TRUE(s->ask(request::get("/")).ok());
    servers().resume_server(paused);
    servers().run_for(30s);
    move(*s, paused);
}

}  // namespace
}  // namespace latchkey::test
