// What systemd addresses to the process of a unit by its id, for the commands of latchkey and for
// the command that latchkey runs.
#include "acting_fixture.hpp"
#include "service_socket.hpp"

#include <climits>
#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace latchkey::test {
namespace {

class ServiceManager : public acting_fixture {
protected:
    [[nodiscard]] program_surroundings unit(const std::string& watchdog_usec,
                                            const words& process_ids = {"WATCHDOG_PID"}) const {
        return {
            .environment = {{"NOTIFY_SOCKET", manager_.path()}, {"WATCHDOG_USEC", watchdog_usec}},
            .process_ids = process_ids};
    }

    /// The watchdog receives so many messages, from that process alone; earlier ones do not count.
    void expect_told(const running_program& p, int times) const {
        while (manager_.receive(0)) {
        }
        for (int told = 0; told < times;) {
            const auto message = manager_.receive(600'000);
            ASSERT_TRUE(message) << told << p->err();
            EXPECT_EQ(message->sender, p->pid());
            EXPECT_THAT(message->text,
                        AllOf(Not(HasSubstr("of the command")), Not(HasSubstr("MAINPID"))));
            told += message->text == "WATCHDOG=1" ? 1 : 0;
        }
    }

    const words running_ = {"lock PATH -- ", "elect PATH -- ", "join PATH me -- "};
    const service_socket manager_;
};

TEST_F(ServiceManager, WatchdogIsToldWhileACommandRunsAndWhileLatchkeyWaitsOrServes) {
    const auto holder = holding("lock PATH.taken");
    ASSERT_EQ(run("barrier set PATH.barrier")->wait(), 0);
    for (const std::string line : {"lock PATH -- sleep 1000",
                                   "elect PATH -- sleep 1000",
                                   "join PATH me -- sleep 1000",
                                   "lock PATH.taken -- true",
                                   "elect PATH.taken -- true",
                                   "lock PATH.free",
                                   "watch PATH",
                                   "elect -l PATH",
                                   "members --follow PATH.group",
                                   "barrier wait PATH.barrier",
                                   "serve --listen 127.0.0.1:0",
                                   "dev-server --listen 127.0.0.1:0"}) {
        SCOPED_TRACE(line);
        const auto p = run(line, {}, unit("100000"));
        expect_told(p, 5);
        EXPECT_NE(status_after(SIGTERM, p), -1);
    }
}

TEST_F(ServiceManager, WatchdogWithoutAnIdIsThatOfLatchkey) {
    expect_told(run("lock PATH", {}, unit("100000", {})), 3);
}

TEST_F(ServiceManager, WatchdogOfAnotherProcessIsLeftToIt) {
    auto around = unit("1000", {});
    around.environment["WATCHDOG_PID"] = "1";
    const char* script = "echo $WATCHDOG_USEC $WATCHDOG_PID; sleep 0.1";
    EXPECT_EQ(out_of(run_sh("lock PATH", script, around)), "1000 1\n");
    while (const auto message = manager_.receive(0)) {
        EXPECT_THAT(message->text, Not(HasSubstr("WATCHDOG")));
    }
}

TEST_F(ServiceManager, WatchdogNoticesACommandThatHangsInEachTerm) {
    const auto p = run("elect PATH -- " LATCHKEY_UNIT_SERVICE " pet 4", {}, unit("100000"));
    for (std::size_t term = 0; term < 2; ++term) {
        ASSERT_TRUE(eventually([&] { return lines_of(p->out()).size() > term; })) << p->err();
        const std::string said = lines_of(p->out())[term];
        ASSERT_THAT(said, StartsWith("hangs "));
        const auto count = [&](int within, int most) {
            int told = 0;
            while (told <= most) {
                const auto message = manager_.receive(within);
                if (!message) {
                    break;
                }
                EXPECT_EQ(message->sender, p->pid());
                told += message->text == "WATCHDOG=1" ? 1 : 0;
            }
            return told;
        };
        const int before = count(0, INT_MAX);
        const int late = count(500, 4);
        EXPECT_GE(before + late, 4);
        EXPECT_LE(late, 4) << "for a command that hangs: no more than it has sent itself";
        ::kill(std::atoi(said.c_str() + 6), SIGKILL);
        EXPECT_EQ(manager_.next("WATCHDOG"), "WATCHDOG=1");
    }
}

TEST_F(ServiceManager, SocketsReachTheCommandInEachTerm) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(listening, generic, sizeof address), 0);
    ASSERT_EQ(::listen(listening, 5), 0);
    for (const std::string& line : running_) {
        const auto p = run(line + LATCHKEY_UNIT_SERVICE " listen",
                           {},
                           {.environment = {{"LISTEN_FDS", "1"},
                                            {"LISTEN_FDNAMES", "web"},
                                            {"LISTEN_PIDFDID", "12345"}},
                            .process_ids = {"LISTEN_PID"},
                            .third_descriptor = listening});
        const int terms = line.starts_with("elect") ? 2 : 1;
        for (int term = 0; term < terms; ++term) {
            const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            ASSERT_EQ(::connect(client, generic, sizeof address), 0) << "it waits in the backlog";
            std::string text(20, '\0');
            ASSERT_GT(::read(client, text.data(), text.size()), 0) << p->out() << p->err();
            ::close(client);
            EXPECT_THAT(p->out(), StartsWith("1 web\n"));
            const pid_t served_by = std::atoi(text.c_str());
            ::kill(served_by, SIGKILL);
            EXPECT_TRUE(eventually([&] { return dead(served_by); }));
        }
        EXPECT_NE(status_after(SIGTERM, p), -1);
    }
    ::close(listening);
}

TEST_F(ServiceManager, WhatIsForAnotherProcessIsLeftToIt) {
    const auto p = run_sh("lock PATH",
                          "echo $LISTEN_FDS $LISTEN_PID; test $SYSTEMD_EXEC_PID = $$",
                          {.environment = {{"LISTEN_FDS", "1"}, {"LISTEN_PID", "1"}},
                           .process_ids = {"SYSTEMD_EXEC_PID"}});
    EXPECT_EQ(out_of(p), "1 1\n");
}

TEST_F(ServiceManager, ReadyUnitIsOneThatHasWhatItIsFor) {
    for (const std::string line : {"lock PATH",
                                   "elect PATH -- sleep 1000",
                                   "join PATH.group me -- sleep 1000",
                                   "serve --listen 127.0.0.1:0",
                                   "dev-server --listen 127.0.0.1:0"}) {
        const auto p = run(line, {}, unit("0"));
        EXPECT_NE(manager_.next("READY=1\n"), "") << line;
        EXPECT_NE(status_after(SIGTERM, p), -1);
    }
}

}  // namespace
}  // namespace latchkey::test
