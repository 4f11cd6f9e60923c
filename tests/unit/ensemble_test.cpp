#include <latchkey/ensemble.hpp>
#include <latchkey/error.hpp>

#include "in_process_contract.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ensemble = latchkey::testing::ensemble;
using operation = ensemble::operation;
using when = ensemble::when;

constexpr auto plain = create_mode::persistent;
constexpr auto ephemeral = create_mode::ephemeral;
constexpr auto numbered = create_mode::persistent_sequential;

ensemble::options stepped_options(std::uint64_t seed = 1) {
    ensemble::options how;
    how.mode = ensemble::mode::stepped;
    how.seed = seed;
    return how;
}

request create(const std::string& path, create_mode mode = plain) {
    return request::create(path, {}, mode, open_unsafe_acl());
}

class Ensemble : public ::testing::Test {
protected:
    void start(const ensemble::options& how = stepped_options()) {
        all_ = std::make_unique<in_process>(how);
    }

    [[nodiscard]] ensemble& servers() { return all_->servers(); }

    /// A session at one server.
    std::unique_ptr<subject> connect(int server) {
        auto s = std::make_unique<subject>(*all_);
        EXPECT_TRUE(s->wait_connected());
        move(*s, server);
        return s;
    }

    void move(subject& s, int server) {
        if (server_of(s) != server) {
            const std::size_t connections = s.count("connected");
            servers().move(s.id(), server);
            EXPECT_TRUE(s.wait_for("connected", connections + 1));
        }
        EXPECT_EQ(server_of(s), server);
    }

    int server_of(const subject& s) {
        for (const ensemble::session_info& info : servers().sessions()) {
            if (info.id == s.id()) {
                return info.server;
            }
        }
        return -1;
    }

    bool alive(const subject& s) {
        for (const ensemble::session_info& info : servers().sessions()) {
            if (info.id == s.id()) {
                return info.alive;
            }
        }
        return false;
    }

    [[nodiscard]] int follower(int skip = 0) {
        for (int i = 0;; ++i) {
            if (i != servers().leader() && skip-- == 0) {
                return i;
            }
        }
    }

    /// How long until `done`.
    ensemble::duration time_until(const std::function<bool()>& done) {
        const ensemble::duration start = servers().now();
        EXPECT_TRUE(servers().run_until(done, 10min));
        return servers().now() - start;
    }

    std::unique_ptr<in_process> all_;
};

// Determinism and time.

std::uint64_t trace_of_a_troubled_run(std::uint64_t seed) {
    ensemble::options how = stepped_options(seed);
    how.jitter = 1ms;
    how.between_servers = 1ms;
    in_process all(how);
    latchkey::testing::faults rates;
    rates.cut_before = rates.cut_after = 0.05;
    rates.interval = 500ms;
    rates.cut = rates.suspend = rates.pause = rates.stop = rates.isolate = rates.lag = 0.3;
    rates.lasting = 5s;
    subject a(all);
    subject b(all);
    all.servers().inject(rates);
    for (int i = 0; i < 20; ++i) {
        for (subject* const s : {&a, &b}) {
            s->on_loop([&] {
                s->send("c", create("/n-", create_mode::ephemeral_sequential));
                s->send("l", request::children("/"));
            });
        }
        all.servers().run_for(1s);
    }
    return all.servers().trace();
}

TEST(EnsembleRuns, OfOneSeedAreTheSameEventByEvent) {
    std::set<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const std::uint64_t trace = trace_of_a_troubled_run(seed);
        EXPECT_EQ(trace, trace_of_a_troubled_run(seed));
        traces.insert(trace);
    }
    EXPECT_EQ(traces.size(), 5U);
}

TEST_F(Ensemble, ARoundTripTakesTwiceTheLatency) {
    ensemble::options how = stepped_options();
    how.one_way = 7ms;
    start(how);
    for (const int server : {servers().leader(), follower()}) {
        const auto s = connect(server);
        s->on_loop([&] {
            s->send("write", create("/a" + std::to_string(server)));
            s->send("read", request::children("/"));
        });
        EXPECT_EQ(time_until([&] { return s->count("read:ok") == 1; }), 14ms);
    }
}

TEST_F(Ensemble, AWriteThroughAFollowerPassesTheQuorum) {
    ensemble::options how = stepped_options();
    how.one_way = 1ms;
    how.between_servers = 10ms;
    start(how);
    const auto s = connect(follower());
    s->on_loop([&] { s->send("read", request::get("/")); });
    EXPECT_EQ(time_until([&] { return s->count("read:ok") == 1; }), 2ms);
    // To the leader, to a quorum and back, and the commit to the follower.
    s->on_loop([&] { s->send("write", create("/a")); });
    EXPECT_EQ(time_until([&] { return s->count("write:ok") == 1; }), 42ms);
    const auto t = connect(servers().leader());
    t->on_loop([&] { t->send("write", create("/b")); });
    EXPECT_EQ(time_until([&] { return t->count("write:ok") == 1; }), 22ms);
}

// Sessions.

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
    start();
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
    start();
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
    start();
    const auto s = connect(follower());
    servers().black_hole(s->id());
    servers().run_for(1min);
    EXPECT_FALSE(alive(*s));
    EXPECT_EQ(s->count("expired"), 0U);
    servers().resume(s->id());
    EXPECT_TRUE(s->wait_for("expired"));
}

TEST_F(Ensemble, APausedClientLearnsAllOfItLate) {
    start();
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
    start();
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
    start();
    const auto s = connect(0);
    const std::int64_t id = s->id();
    servers().replace(id);
    servers().cut(id);
    ASSERT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_NE(s->id(), id);
    EXPECT_EQ(s->count("expired"), 0U);
}

// Servers.

TEST_F(Ensemble, AnIsolatedFollowerAnswersFromItsPastAndItsWritesHang) {
    start();
    const int cut_off = follower();
    const auto behind = connect(cut_off);
    const auto other = connect(servers().leader());
    other->ask(create("/a"));
    servers().run_for(1s);
    servers().isolate(cut_off);
    EXPECT_TRUE(other->ask(request::remove("/a")).ok());
    EXPECT_TRUE(behind->ask(request::get("/a")).ok()) << "it cannot know";
    behind->on_loop([&] {
        behind->send("sync", request::sync("/"));
        behind->send("write", create("/b"));
    });
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
    start();
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
    start();
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
    start();
    const int deposed = servers().leader();
    const auto behind = connect(deposed);
    behind->ask(create("/a"));
    servers().isolate(deposed);
    ASSERT_TRUE(servers().run_until([&] { return servers().leader() != deposed; }, 1min))
        << "the others elect another";
    const auto other = std::make_unique<subject>(*all_);
    ASSERT_TRUE(other->wait_connected()) << "at the others: nobody is new at the deposed one";
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
    start();
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
    start();
    const int deposed = servers().leader();
    const auto behind = connect(deposed);
    behind->ask(create("/a"));
    servers().isolate(deposed);
    ASSERT_TRUE(servers().run_until([&] { return servers().leader() != deposed; }, 1min));
    servers().remove("/a");
    behind->on_loop([&] {
        behind->send("sync", request::sync("/a"));
        behind->send("get", request::get("/a"));
    });
    EXPECT_TRUE(behind->wait_for("sync:ok"));
    EXPECT_TRUE(behind->wait_for("get:ok")) << "removed by the quorum, and still there";
}

TEST_F(Ensemble, WithoutAMajorityNoWriteIsAnsweredAndClientsAreDropped) {
    start();
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

TEST_F(Ensemble, AFollowerThatIsBehindRefusesAClientThatHasSeenMore) {
    start();
    const int late = follower();
    servers().lag(late, 3s);
    const auto s = connect(servers().leader());
    s->ask(create("/a"));
    servers().move(s->id(), late);
    ASSERT_TRUE(s->wait_for("suspended", s->count("suspended") + 1));
    ASSERT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_NE(server_of(*s), late);
    EXPECT_TRUE(s->ask(request::exists("/a")).ok());
}

TEST_F(Ensemble, ALaggingFollowerShowsThePastUntilASync) {
    start();
    const int late = follower();
    const auto behind = connect(late);
    const auto other = connect(servers().leader());
    servers().lag(late, 500ms);
    other->ask(create("/a"));
    EXPECT_EQ(behind->ask(request::get("/a")).code, result_code::no_node);
    behind->on_loop([&] {
        behind->send("sync", request::sync("/a"));
        behind->send("get", request::get("/a"));
    });
    EXPECT_TRUE(behind->wait_for("get:ok"));
}

TEST_F(Ensemble, ALateRequestOfASessionThatMovedIsRefused) {
    start();
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
    start();
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
    start();
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

TEST_F(Ensemble, APausedServerIsSilentAndItsClientsMoveOn) {
    start();
    const int paused = follower();
    const auto s = connect(paused);
    servers().pause_server(paused);
    s->on_loop([&] { s->send("r", request::get("/")); });
    EXPECT_TRUE(s->wait_for("suspended", s->count("suspended") + 1));
    EXPECT_EQ(s->answer("r")->code, result_code::operation_timeout);
    EXPECT_TRUE(s->wait_for("connected", s->count("connected") + 1));
    EXPECT_NE(server_of(*s), paused);
    servers().resume_server(paused);
    servers().run_for(30s);
    move(*s, paused);
}

// Faults of requests.

TEST_F(Ensemble, ARequestFailsBeforeOrAfterItIsDone) {
    start();
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
    start();
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
}

TEST_F(Ensemble, ARequestMayBeRefusedWithAnyCode) {
    start();
    const auto s = connect(0);
    servers().refuse_next(operation::create, -125);
    s->on_loop([&] {
        s->send("1", create("/a"));
        s->send("2", create("/a"));
    });
    EXPECT_TRUE(s->wait_for("2:ok"));
    EXPECT_EQ(s->answer("1")->code, result_code::quota_exceeded);
}

// The operator, containers, the end of the numbers.

TEST_F(Ensemble, TheOperatorWorksOnTheTreeAndClientsSeeIt) {
    start();
    const auto s = connect(follower());
    EXPECT_EQ(servers().create("/a", "1"), "/a");
    servers().create("/a/b");
    EXPECT_EQ(s->ask(request::get("/a")).data, "1");
    const auto w = s->watcher("w");
    s->ask(request::get("/a"), w);
    servers().set("/a", "2");
    EXPECT_EQ(servers().get("/a")->data, "2");
    EXPECT_EQ(servers().get("/a")->version, 1);
    EXPECT_THAT(servers().children("/a"), ElementsAre("b"));
    EXPECT_TRUE(s->wait_for("w:changed"));
    EXPECT_THROW(servers().remove("/a"), latchkey::error);
    EXPECT_THROW(servers().create("/no/child"), latchkey::error);
    servers().remove("/a/b");
    servers().remove("/a");
    EXPECT_FALSE(servers().exists("/a"));
    EXPECT_FALSE(servers().get("/a").has_value());
}

TEST_F(Ensemble, TheOperatorChangesAccess) {
    start();
    const auto s = connect(0);
    s->ask(create("/a"));
    servers().set_acl("/a", {{"world", "anyone", permission::write}});
    servers().run_for(1s);
    EXPECT_EQ(s->ask(request::get("/a")).code, result_code::no_auth);
    EXPECT_EQ(s->ask(request::set("/a", "")).code, result_code::ok);
}

TEST_F(Ensemble, AnEmptyContainerThatWasUsedGoesAfterTheInterval) {
    start();
    const auto s = connect(0);
    s->ask(create("/used", create_mode::container));
    s->ask(create("/unused", create_mode::container));
    s->ask(create("/busy", create_mode::container));
    s->ask(create("/used/a"));
    s->ask(create("/busy/a"));
    s->ask(request::remove("/used/a"));
    servers().run_for(2min);
    EXPECT_FALSE(servers().exists("/used"));
    EXPECT_TRUE(servers().exists("/unused"));
    EXPECT_TRUE(servers().exists("/busy"));
    s->ask(request::remove("/busy/a"));
    servers().reap_containers();
    EXPECT_EQ(s->ask(request::exists("/busy")).code, result_code::no_node);
}

TEST_F(Ensemble, ARecreatedDirectoryCountsFromZero) {
    start();
    const auto s = connect(0);
    for (int i = 0; i < 2; ++i) {
        s->ask(create("/c", create_mode::container));
        EXPECT_EQ(s->ask(create("/c/n", numbered)).path, "/c/n0000000000");
        s->ask(request::remove("/c/n0000000000"));
        servers().reap_containers();
        servers().run_for(1s);
    }
}

TEST_F(Ensemble, AtTheEndOfTheNumbersTheLastOneRepeats) {
    start();
    const auto s = connect(0);
    s->ask(create("/d"));
    servers().set_sequence("/d", 2147483646);
    servers().run_for(1s);
    EXPECT_EQ(s->ask(create("/d/n", numbered)).path, "/d/n2147483646");
    EXPECT_EQ(s->ask(create("/d/n", numbered)).path, "/d/n2147483647");
    EXPECT_EQ(s->ask(create("/d/n", numbered)).code, result_code::node_exists);
    EXPECT_EQ(s->ask(create("/d/m", numbered)).path, "/d/m2147483647");
}

TEST_F(Ensemble, PastTheEndOfTheNumbersPipelinedCreatesGetNegativeOnes) {
    ensemble::options how = stepped_options();
    how.between_servers = 1ms;
    start(how);
    const auto s = connect(0);
    s->ask(create("/d"));
    servers().set_sequence("/d", 2147483647);
    servers().run_for(1s);
    s->on_loop([&] {
        for (const char* const label : {"1", "2", "3"}) {
            s->send(label, create("/d/n", numbered));
        }
    });
    ASSERT_TRUE(s->wait_for("3:ok"));
    EXPECT_EQ(s->answer("1")->path, "/d/n2147483647");
    EXPECT_EQ(s->answer("2")->path, "/d/n-2147483648");
    EXPECT_EQ(s->answer("3")->path, "/d/n-2147483647");
    EXPECT_EQ(s->ask(create("/d/m", numbered)).path, "/d/m2147483647") << "nothing is outstanding";
}

// Counting.

TEST_F(Ensemble, RequestsAndWatchesAreCounted) {
    start();
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
    EXPECT_EQ(of_s.requests(), 6U);
    const latchkey::testing::counters of_t = servers().count(t->id());
    EXPECT_EQ(of_t.checks, 1U);
    EXPECT_EQ(of_t.multis, 1U);
    EXPECT_EQ(of_t.removes, 1U);
    EXPECT_EQ(servers().count().requests(), of_s.requests() + of_t.requests());
    EXPECT_EQ(servers().open_watches(), 0U);
    servers().reset_counters();
    EXPECT_EQ(servers().count(), latchkey::testing::counters{});
}

TEST_F(Ensemble, WatchesGoWithTheirConnection) {
    start();
    const auto s = connect(0);
    const auto w = s->watcher("w");
    s->ask(request::get("/"), w);
    EXPECT_EQ(servers().open_watches(), 1U);
    servers().suspend(s->id());
    servers().run_for(1s);
    EXPECT_EQ(servers().open_watches(), 0U);
    servers().resume(s->id());
    ASSERT_TRUE(s->wait_for("connected", s->count("suspended") + 1));
    servers().run_for(1s);
    EXPECT_EQ(servers().open_watches(), 1U);
}

TEST_F(Ensemble, RefusesOptionsThatMakeNoSense) {
    ensemble::options none = stepped_options();
    none.servers = 0;
    EXPECT_THROW(start(none), latchkey::error);
    ensemble::options still = stepped_options();
    still.tick = 0ns;
    EXPECT_THROW(start(still), latchkey::error);
}

// Threaded.

TEST(ThreadedEnsemble, TimeMovesOnDemandAndIdleSessionsLive) {
    in_process all{ensemble::options{}};
    subject s(all);
    ASSERT_TRUE(s.wait_connected());
    all.servers().advance(1h);
    EXPECT_TRUE(s.ask(request::get("/")).ok());
    EXPECT_EQ(s.journal().front(), "connected");
    EXPECT_EQ(s.count("suspended"), 0U);
}

TEST(ThreadedEnsemble, AnOperatorsWriteIsThereWhenItReturns) {
    ensemble::options how;
    how.one_way = 0ns;
    in_process all(how);
    subject s(all);
    ASSERT_TRUE(s.wait_connected());
    for (int i = 0; i < 50; ++i) {
        const std::string path = "/a" + std::to_string(i);
        all.servers().create(path);
        EXPECT_TRUE(s.ask(request::get(path)).ok());
    }
}

TEST(ThreadedEnsemble, ItsClientsOutliveIt) {
    auto all = std::make_unique<ensemble>();
    const environment e = latchkey::testing::environment_of(*all);
    std::atomic<int> connected{0};
    std::atomic<int> suspended{0};
    std::unique_ptr<session> s;
    e.loop->post([&] {
        s = e.sessions->open({{}, 6s, {}}, [&](const session_event& event) {
            connected += event.what == session_event::kind::connected ? 1 : 0;
            suspended += event.what == session_event::kind::suspended ? 1 : 0;
        });
    });
    ASSERT_TRUE(all->run_until([&] { return connected == 1; }, 30s));
    all = nullptr;
    std::atomic<bool> done{false};
    e.loop->post([&] { s->submit(request::get("/"), [&](const reply& r) { done = !r.ok(); }); });
    for (int i = 0; i < 30'000 && !(done && suspended == 1); ++i) {
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(done);
    EXPECT_EQ(suspended, 1);
    done = false;
    e.loop->post([&] {
        s = nullptr;
        done = true;
    });
    for (int i = 0; i < 30'000 && !done; ++i) {
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(done);
}

}  // namespace
}  // namespace latchkey::test
