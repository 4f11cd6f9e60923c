#include <latchkey/error.hpp>

#include "ensemble_fixture.hpp"
#include "eventually.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

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
    const runtime e = latchkey::testing::runtime_of(*all);
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
    EXPECT_TRUE(eventually([&] { return done && suspended == 1; }));
    done = false;
    e.loop->post([&] {
        s = nullptr;
        done = true;
    });
    EXPECT_TRUE(eventually([&] { return done.load(); }));
}

}  // namespace
}  // namespace latchkey::test
