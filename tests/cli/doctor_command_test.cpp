#include <latchkey/inspect.hpp>
#include <latchkey/mutex.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"
#include "too_slow.hpp"
#include "two_that_wait.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// doctor and ping.

namespace latchkey::test {
namespace {

class DoctorCommand : public seeing_fixture {
protected:
    /// What `doctor --json` has found.
    static std::set<std::string> checks_of(const running_program& p, int status = 0) {
        std::set<std::string> names;
        for (const auto& o : objects_of(p, status)) {
            names.insert(o.value("check", ""));
        }
        return names;
    }
};

TEST_F(DoctorCommand, FindsADeadlockOfTwoPrograms) {
    {
        mutex a(one_, path_ + "/a");
        mutex b(two_, path_ + "/b");
        const hold one_holds = a.acquire();
        const hold two_holds = b.acquire();
        mutex wanted(one_, path_ + "/b");
        std::stop_source stop;
        auto waits = queued_until(stop.get_token(), wanted);
        EXPECT_EQ(run("doctor PATH")->wait(), 0) << "one client waits, and not for itself";
        stop.request_stop();
        static_cast<void>(waits.get());
    }
    const two_that_wait both(one_, two_, path_);
    EXPECT_THAT(out_of(run("doctor PATH"), 1),
                AllOf(HasSubstr("PROBLEM: deadlock"),
                      HasSubstr("waits for " + path_ + "/a, which "),
                      HasSubstr("waits for " + path_ + "/b, which "),
                      HasSubstr("2 locks below " + path_ + ": 1 problem,")));
    const auto all = objects_of(run("doctor --json PATH"), 1);
    EXPECT_EQ(all.front()["check"], "deadlock");
    EXPECT_THAT(all.front()["waits"], SizeIs(2));
    EXPECT_EQ(all.back()["type"], "end");
    EXPECT_EQ(all.back()["problems"], 1);
}

TEST_F(DoctorCommand, FindsADeadlockWithCuratorsParticipants) {
    put("");
    put("/a");
    put_participant("a/" + curators_id + "lock-0000000000", "10.0.0.1");
    mutex b(two_, path_ + "/b");
    const hold held = b.acquire();
    put_participant("b/" + curators_id + "lock-0000000001", "10.0.0.1");
    mutex a(two_, path_ + "/a");
    std::stop_source stop;
    auto waits = queued_until(stop.get_token(), a);
    EXPECT_THAT(out_of(run("doctor PATH"), 1), AllOf(HasSubstr("deadlock"), HasSubstr("10.0.0.1")));
    stop.request_stop();
    static_cast<void>(waits.get());
}

TEST_F(DoctorCommand, AdviceCountsOnlyIfStrict) {
    mutex m(one_, path_ + "/a");
    const hold h = m.acquire();
    EXPECT_THAT(out_of(run("doctor -t 30 PATH")), HasSubstr("advice: open_access"));
    EXPECT_EQ(run("doctor --strict PATH")->wait(), 1);
}

TEST_F(DoctorCommand, SaysWhichClientsDoNotAnswerADatagram) {
    client_options how;
    how.direct = {"127.0.0.1:0"};
    std::optional<client> direct = client::connect(servers_, how);
    mutex m(*direct, path_ + "/a");
    hold h = m.acquire();
    EXPECT_THAT(out_of(run("doctor -t 30 PATH")), HasSubstr("; 1 of 1 clients answer datagrams\n"));
    const std::string record = inspect(one_, path_ + "/a").participants.at(0).data;
    h.release();
    direct.reset();

    put_participant("a/" + curators_id + "lock-0000000009", record);
    EXPECT_THAT(out_of(run("doctor -t 30 PATH")),
                AllOf(HasSubstr("advice: no_datagrams"),
                      HasSubstr("1 of 1 clients do not answer"),
                      HasSubstr("127.0.0.1:"),
                      HasSubstr("; 0 of 1 clients answer datagrams\n")));
    int number = 10;
    for (const char* address : {"nowhere", "10.1.2.3", "127.0.0.1:99999", "\u001b[2J:1"}) {
        put_participant("a/" + curators_id + "lock-00000000" + std::to_string(number++),
                        R"({"direct":")" + std::string(address) +
                            R"(","key":"00000000000000000000000000000000"})");
    }
    const auto all = objects_of(run("doctor --json -t 30 PATH"));
    EXPECT_EQ(all.back()["direct_clients"], 4) << "a record with control characters counts as none";
    EXPECT_EQ(all.back()["direct_answered"], 0);
    EXPECT_THAT(out_of(run("doctor -t 30 PATH")), Not(HasSubstr("\x1b")));
}

TEST_F(DoctorCommand, ComparesTheSessionTimeoutWithTheTicksOfTheServers) {
    put("");
    running_program few_ticks;
    bool answered = false;
    // It cannot compare while no handshake of a short session is in time.
    const bool compared = eventually([&] {
        few_ticks = run("doctor --json -t 0.5 PATH");
        answered |= few_ticks->wait() != 2;
        return checks_of(few_ticks).contains("session_timeout_in_ticks");
    });
    if (!answered) {
        GTEST_SKIP() << too_slow << "no server answered within half a second";
    }
    EXPECT_TRUE(compared) << few_ticks->out();
    EXPECT_FALSE(checks_of(run("doctor --json -t 30 PATH")).contains("session_timeout_in_ticks"));
}

TEST_F(DoctorCommand, SaysWhenItCannotTell) {
    EXPECT_EQ(run("doctor PATH-none")->wait(), 2);
    EXPECT_EQ(run("doctor -z 127.0.0.1:1 -t 0.5")->wait(), 2);
    put("");
    put_secret("/secret");
    EXPECT_THAT(out_of(run("doctor PATH"), 2), HasSubstr("not everything was read"));
}

class PingCommand : public seeing_fixture {};

TEST_F(PingCommand, MeasuresEachServer) {
    EXPECT_THAT(out_of(run("ping -n 3 -t 30 -z " + every_server())),
                AllOf(HasSubstr(servers_ + ": session timeout 30 s\n"),
                      HasSubstr("  read                3 "),
                      HasSubstr("  quorum write        3 ")));
    const auto all = objects_of(run("ping -n 20 -t 30 --json -z " + every_server()));
    const auto commas = std::count(every_server().begin(), every_server().end(), ',');
    ASSERT_THAT(all, SizeIs(commas + 1));
    EXPECT_EQ(all[0]["server"], servers_);
    for (const auto& server : all) {
        EXPECT_EQ(server["answers"], true);
        EXPECT_EQ(server["session_timeout_ms"], 30000);
        for (const char* what : {"reads", "writes"}) {
            EXPECT_EQ(server[what]["count"], 20);
            EXPECT_GT(server[what]["min_us"], 0);
        }
    }
}

TEST_F(PingCommand, NamesServersThatDoNotAnswer) {
    const auto one_of_two = in_time(2, "session timeout ", [&](const std::string& limit) {
        return run("ping -n 1 -t " + limit + " -z 127.0.0.1:1," + servers_);
    });
    EXPECT_THAT(out_of(one_of_two, 1),
                AllOf(HasSubstr("127.0.0.1:1: does not answer ("),
                      HasSubstr(servers_ + ": session timeout ")));
    const auto seen = object_of(run("ping -t 0.5 --json -z 127.0.0.1:1"), 69);
    EXPECT_EQ(seen["answers"], false);
    EXPECT_THAT(seen["error"].get<std::string>(), HasSubstr("127.0.0.1:1"));
}

TEST_F(PingCommand, WorksBelowAChrootThatDoesNotExist) {
    const auto below = run("ping -n 1 -z " + servers_ + path_);
    EXPECT_EQ(below->wait(), 0) << below->out() << below->err();
}

}  // namespace
}  // namespace latchkey::test
