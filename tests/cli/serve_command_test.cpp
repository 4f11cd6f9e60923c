#include <latchkey/leader_latch.hpp>

#include "serve_fixture.hpp"

#include <algorithm>
#include <csignal>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// What `latchkey serve` shows.

namespace latchkey::test {
namespace {

class ServeCommand : public serve_fixture {
protected:
    /// Without what time changes.
    static nlohmann::json lasting(nlohmann::json o) {
        for (nlohmann::json& p : o["participants"]) {
            p.erase("existed_ms");
        }
        return o;
    }

    /// The names of the metrics that a file mentions.
    static std::set<std::string> metrics_in(const std::string& text) {
        static const std::regex name("latchkey_[a-z_]+[a-z]");
        return {std::sregex_token_iterator(text.begin(), text.end(), name),
                std::sregex_token_iterator()};
    }
};

TEST_F(ServeCommand, HasTheFieldsOfTreeWhoAndDoctor) {
    serve();
    const two_that_wait both(one_, two_, "/jobs");
    ASSERT_TRUE(eventually_shown("/api/doctor", "deadlock"));
    const auto tree = objects_of(run("tree --json /"));
    const auto locks = json("/api/locks")["locks"];
    ASSERT_THAT(locks, SizeIs(2));
    EXPECT_EQ(lasting(locks[0]), lasting(tree[0]));
    EXPECT_EQ(lasting(locks[1]), lasting(tree[1]));
    auto who = object_of(run("who --json /jobs/a"));
    who["type"] = "lock";
    const auto one = json("/api/lock?path=%2Fjobs/a");
    EXPECT_EQ(lasting(one["lock"]), lasting(who));
    EXPECT_EQ(one["reading"]["ending"], "complete");
    EXPECT_EQ(one["reading"]["locks"], 2);
    EXPECT_EQ(one["reading"]["error"], nullptr);
    const auto found = json("/api/doctor")["findings"];
    const auto doctor = objects_of(run("doctor --json /"), 1);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0]["what"], doctor[0]["what"]);
    const auto graph = json("/api/graph");
    ASSERT_THAT(graph["waits"], SizeIs(2));
    EXPECT_EQ(graph["waits"][0]["path"], "/jobs/a");
    EXPECT_EQ(graph["waits"][0]["blocker"]["state"], "holds");
    EXPECT_EQ(graph["findings"][0]["check"], "deadlock");
}

TEST_F(ServeCommand, WritesMetricsOfEachLock) {
    serve();
    const two_that_wait both(one_, two_, "/jobs");
    leader_latch election(one_, "/services/billing", {.id = "one"});
    election.start();
    ASSERT_TRUE(eventually_shown("/metrics", "latchkey_election_led"));
    ASSERT_TRUE(eventually_shown("/metrics", "latchkey_deadlocks 1\n"));
    servers_.create("/stuck", "");
    servers_.create("/stuck/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000001", "host");
    ASSERT_TRUE(eventually_locks(4));
    const auto reply = get("/metrics");
    EXPECT_EQ(reply.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    for (const char* line : {
             "latchkey_lock_holders{path=\"/jobs/a\",kind=\"mutex\"} 1\n",
             "latchkey_lock_waiters{path=\"/jobs/a\",kind=\"mutex\"} 1\n",
             "latchkey_lock_deadlocked{path=\"/jobs/a\",kind=\"mutex\"} 1\n",
             "latchkey_lock_without_session{path=\"/stuck\",kind=\"mutex\"} 1\n",
             "latchkey_lock_holder_age_seconds{path=\"/stuck\",kind=\"mutex\"} ",
             "latchkey_election_led{path=\"/services/billing\",kind=\"leader_election\"} 1\n",
             "latchkey_locks{kind=\"mutex\"} 3\n",
             "latchkey_locks_in_other 0\n",
             "latchkey_readings_total{outcome=\"failed\"} 0\n",
             "latchkey_reading_age_seconds ",
             "latchkey_connected{client=\"serve\"} 1\n",
         }) {
        EXPECT_THAT(reply.body, HasSubstr(line));
    }
}

TEST_F(ServeCommand, LimitsTheNumberOfLabels) {
    serve("--max-labels 1");
    mutex first(one_, "/c");
    const hold one = first.acquire();
    ASSERT_TRUE(eventually_shown("/metrics", "path=\"/c\""));
    EXPECT_THAT(get("/metrics").body, Not(HasSubstr("path=\"other\"")));
    mutex second(one_, "/a");
    const hold two = second.acquire();
    mutex third(one_, "/b");
    const hold three = third.acquire();
    ASSERT_TRUE(eventually_shown("/metrics", "latchkey_locks_in_other 2\n"));
    EXPECT_THAT(get("/metrics").body,
                AllOf(HasSubstr("latchkey_lock_holders{path=\"other\",kind=\"other\"} 2\n"),
                      HasSubstr("latchkey_lock_holders{path=\"/c\",kind=\"mutex\"} 1\n"),
                      HasSubstr("latchkey_locks{kind=\"mutex\"} 3\n"),
                      Not(HasSubstr("path=\"/a\""))))
        << "the label that came first stays";
}

TEST_F(ServeCommand, IsWhatTheDashboardAndTheAlertsAskFor) {
    serve();
    const two_that_wait both(one_, two_, "/jobs");
    leader_latch election(one_, "/services/billing", {.id = "one"});
    election.start();
    ASSERT_TRUE(eventually_shown("/metrics", "latchkey_election_led"));
    const auto known = metrics_in(get("/metrics").body);
    const std::string dashboard = content_of(LATCHKEY_CONTRIB "/grafana/latchkey.json");
    EXPECT_TRUE(nlohmann::json::accept(dashboard));
    for (const std::string& text :
         {dashboard, content_of(LATCHKEY_CONTRIB "/prometheus/alerts.yml")}) {
        EXPECT_THAT(metrics_in(text), Not(IsEmpty()));
        for (const std::string& name : metrics_in(text)) {
            EXPECT_TRUE(known.contains(name)) << name;
        }
    }
}

TEST_F(ServeCommand, TellsWhatChanges) {
    serve();
    mutex one(one_, "/jobs/nightly");
    std::optional<hold> held = one.acquire();
    ASSERT_TRUE(eventually_locks(1));
    events_peer peer(port_);
    EXPECT_EQ(peer.header("content-type"), "text/event-stream");
    EXPECT_EQ(peer.next("locks")["locks"][0]["path"], "/jobs/nightly");
    std::stop_source stop;
    mutex two(two_, "/jobs/nightly");
    auto waits = queued_until(stop.get_token(), two);
    const auto joined = peer.next("changes");
    EXPECT_EQ(joined["changed"][0]["waiters"], 1);
    EXPECT_EQ(joined["events"][0]["event"], "joined");
    EXPECT_EQ(joined["graph_changed"], true);
    held.reset();
    const auto granted = peer.next("changes");
    EXPECT_THAT(granted["events"].dump(), AllOf(HasSubstr("released"), HasSubstr("granted")));
    static_cast<void>(waits.get());
    nlohmann::json gone;
    do {  // the holder may leave a moment before the directory
        gone = peer.next("changes");
    } while (gone.is_object() && gone["removed"].empty());
    EXPECT_THAT(gone["removed"], ElementsAre("/jobs/nightly"));
    EXPECT_THAT(peer.next("reading")["age_ms"], ::testing::Ge(0));
}

TEST_F(ServeCommand, ShowsOnlyThePathsThatItWasGiven) {
    mutex in(one_, "/jobs/nightly");
    mutex out(one_, "/other/nightly");
    const hold one = in.acquire();
    const hold two = out.acquire();
    serve("/jobs /jobs/nightly");
    ASSERT_TRUE(eventually_locks(1));
    EXPECT_EQ(get("/api/lock?path=/other/nightly").status, 404);
}

TEST_F(ServeCommand, SaysThatTheLastReadingIsOldWhileThereAreNoServers) {
    serve("-t 1");
    mutex m(one_, "/jobs/nightly");
    std::optional<hold> held = m.acquire();
    ASSERT_TRUE(eventually_locks(1));
    servers_.stop_server(0);
    ASSERT_TRUE(eventually([&] { return json("/api/locks")["reading"]["error"].is_string(); }));
    EXPECT_THAT(json("/api/locks")["locks"], SizeIs(1));
    EXPECT_THAT(get("/metrics").body,
                Not(HasSubstr("latchkey_readings_total{outcome=\"failed\"} 0\n")));
    events_peer peer(port_);
    EXPECT_TRUE(peer.next("reading")["error"].is_string());
    servers_.start_server(0);
    EXPECT_TRUE(eventually([&] { return json("/api/locks")["reading"]["error"].is_null(); }));
    EXPECT_TRUE(eventually([&] { return peer.next("reading")["error"].is_null(); }));
}

TEST_F(ServeCommand, ServesThePageBeforeThereAreServers) {
    servers_.stop_server(0);
    serve("-t 0.5");
    EXPECT_EQ(get("/").status, 200);
    EXPECT_EQ(get("/api/locks").status, 503);
    EXPECT_THAT(get("/metrics").body,
                AllOf(HasSubstr("latchkey_reading_age_seconds "), Not(HasSubstr("lock_holders"))));
    servers_.start_server(0);
    EXPECT_TRUE(eventually([&] { return get("/api/locks").status == 200; }));
}

TEST_F(ServeCommand, SaysWhatMayNotBeReadAndWhatIsLeftOut) {
    servers_.create("/secret", "");
    servers_.set_acl("/secret", {{"digest", "nobody:0000000000000000000000000000"}});
    serve();
    ASSERT_TRUE(eventually_shown("/api/locks", "/secret"));
    const auto all = json("/api/locks");
    EXPECT_EQ(all["unreadable"][0]["type"], "unreadable");
    EXPECT_EQ(all["unreadable"][0]["path"], "/secret");
    EXPECT_THAT(get("/metrics").body, HasSubstr("latchkey_unreadable_paths 1\n"));
    serve("--max-znodes 1");
    ASSERT_TRUE(eventually_shown("/metrics", "latchkey_readings_total{outcome=\"complete\"} 0\n"));
    ASSERT_TRUE(eventually_shown("/api/locks", "too_many"));
}

TEST_F(ServeCommand, KeepsHostileTextInsideOfJson) {
    const std::string evil = "</script><img src=x onerror=alert(1)>\"\n\xff";
    servers_.create("/<b>\"", "");
    servers_.create("/<b>\"/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000001", evil);
    serve();
    ASSERT_TRUE(eventually_locks(1));
    EXPECT_EQ(json("/api/locks")["locks"][0]["path"], "/<b>\"");
    const auto one = json("/api/lock?path=%2F%3Cb%3E%22");
    EXPECT_EQ(one["lock"]["participants"][0]["data"],
              "</script><img src=x onerror=alert(1)>\"\n\xef\xbf\xbd");
    EXPECT_THAT(get("/metrics").body, HasSubstr("path=\"/<b>\\\"\""));
    events_peer peer(port_);
    EXPECT_EQ(peer.next("locks")["locks"][0]["path"], "/<b>\"");
}

TEST_F(ServeCommand, EndsBySignalWithItsReaders) {
    serve();
    events_peer peer(port_);
    ASSERT_FALSE(peer.next("reading").is_null());
    EXPECT_EQ(status_after(SIGTERM, program_), 0);
    EXPECT_TRUE(peer.ended_by_server());
}

TEST_F(ServeCommand, SaysWhyItCannotListen) {
    serve();
    const std::string taken = "127.0.0.1:" + std::to_string(port_);
    EXPECT_THAT(err_of(run("serve --listen " + taken), 71),
                HasSubstr("cannot listen on 127.0.0.1:"));
}

}  // namespace
}  // namespace latchkey::test
