// What systemd addresses to the process of a unit by its id, for the commands of latchkey and for
// the command that latchkey runs.
#include "acting_fixture.hpp"
#include "service_socket.hpp"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace latchkey::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ServiceManager : public acting_fixture {
protected:
    using commands = std::vector<words>;

    [[nodiscard]] program_surroundings unit(const std::string& watchdog_usec) const {
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = servers_;
        around.environment["DIR"] = folder_.string();
        around.environment["NOTIFY_SOCKET"] = manager_.path();
        around.environment["WATCHDOG_USEC"] = watchdog_usec;
        around.process_ids = {"WATCHDOG_PID"};
        return around;
    }

    /// The watchdog is told so often, by that process alone. Earlier messages do not count.
    void expect_told(program& p, int times) const {
        while (manager_.receive(0)) {
        }
        for (int told = 0; told < times;) {
            const auto message = manager_.receive(600'000);
            ASSERT_TRUE(message) << told << p.err();
            EXPECT_EQ(message->sender, p.pid());
            EXPECT_THAT(message->text, Not(HasSubstr("of the command")));
            EXPECT_THAT(message->text, Not(HasSubstr("MAINPID")));
            told += message->text == "WATCHDOG=1" ? 1 : 0;
        }
    }

    [[nodiscard]] commands that_run(const words& command) const {
        commands all{{"lock", path_}, {"elect", path_}, {"join", path_, "me"}};
        for (auto& one : all) {
            one.emplace_back("--");
            one.insert(one.end(), command.begin(), command.end());
        }
        return all;
    }

    service_socket manager_;
};

TEST_F(ServiceManager, WatchdogIsToldThatACommandRunsThatDoesNotSpeakForItself) {
    for (const auto& command : that_run({"sleep", "1000"})) {
        program p(command, unit("100000"));
        expect_told(p, 5);
        p.send(SIGTERM);
        EXPECT_NE(p.wait(), -1) << command.front();
    }
}

TEST_F(ServiceManager, WatchdogIsToldWhileACommandOfLatchkeyWaitsOrServes) {
    const auto holder = holding();
    ASSERT_EQ(run({"barrier", "set", path_ + ".barrier"})->wait(), 0);
    const commands waiting{{"lock", path_, "--", "true"},
                           {"elect", path_, "--", "true"},
                           {"lock", path_ + ".free"},
                           {"watch", path_},
                           {"elect", "-l", path_},
                           {"members", "--follow", path_ + ".group"},
                           {"barrier", "wait", path_ + ".barrier"},
                           {"serve", "--listen", "127.0.0.1:0"},
                           {"dev-server", "--listen", "127.0.0.1:0"}};
    for (const auto& command : waiting) {
        SCOPED_TRACE(command.front());
        program p(command, unit("100000"));
        expect_told(p, 3);
        p.send(SIGTERM);
        EXPECT_NE(p.wait(), -1);
    }
}

TEST_F(ServiceManager, WatchdogWithoutAnIdIsThatOfLatchkey) {
    auto around = unit("100000");
    around.process_ids = {};
    program p({"lock", path_}, around);
    expect_told(p, 3);
}

TEST_F(ServiceManager, WatchdogOfAnotherProcessIsLeftToIt) {
    auto around = unit("1000");
    around.process_ids = {};
    around.environment["WATCHDOG_PID"] = "1";
    program p({"lock", path_, "--", "sh", "-c", "echo $WATCHDOG_USEC $WATCHDOG_PID; sleep 0.1"},
              around);
    EXPECT_EQ(p.wait(), 0);
    EXPECT_EQ(p.out(), "1000 1\n");
    while (const auto message = manager_.receive(0)) {
        EXPECT_THAT(message->text, Not(HasSubstr("WATCHDOG")));
    }
}

TEST_F(ServiceManager, WatchdogNoticesACommandThatHangsInEachTerm) {
    program p({"elect", path_, "--", LATCHKEY_UNIT_SERVICE, "pet", "4"}, unit("100000"));
    std::size_t read = 0;
    for (int term = 0; term < 2; ++term) {
        ASSERT_TRUE(eventually([&] { return p.out().find('\n', read) != std::string::npos; }))
            << p.err();
        const std::string said = p.out().substr(read);
        ASSERT_THAT(said, StartsWith("hangs "));
        read += said.size();
        int told = 0;
        while (const auto message = manager_.receive(0)) {
            EXPECT_EQ(message->sender, p.pid());
            told += message->text == "WATCHDOG=1" ? 1 : 0;
        }
        EXPECT_GE(told, 4);
        while (const auto message = manager_.receive(500)) {
            EXPECT_NE(message->text, "WATCHDOG=1") << "for a command that hangs";
        }
        ::kill(std::atoi(said.c_str() + 6), SIGKILL);
        EXPECT_EQ(manager_.next("WATCHDOG"), "WATCHDOG=1");
    }
}

TEST_F(ServiceManager, SocketsReachTheCommandInEachTerm) {
    std::string name = (folder_ / "socket").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(listening, generic, sizeof address), 0);
    ASSERT_EQ(::listen(listening, 5), 0);
    program_surroundings around;
    around.environment = {{"LATCHKEY_SERVERS", servers_},
                          {"LISTEN_FDS", "1"},
                          {"LISTEN_FDNAMES", "web"},
                          {"LISTEN_PIDFDID", "12345"}};
    around.process_ids = {"LISTEN_PID"};
    around.third_descriptor = listening;
    for (const auto& command : that_run({LATCHKEY_UNIT_SERVICE, "listen"})) {
        program p(command, around);
        const int terms = command.front() == "elect" ? 2 : 1;
        for (int term = 0; term < terms; ++term) {
            const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            ASSERT_EQ(::connect(client, generic, sizeof address), 0) << "it waits in the backlog";
            std::string text(20, '\0');
            ASSERT_GT(::read(client, text.data(), text.size()), 0) << p.out() << p.err();
            ::close(client);
            EXPECT_THAT(p.out(), StartsWith("1 web\n"));
            const pid_t served_by = std::atoi(text.c_str());
            ::kill(served_by, SIGKILL);
            EXPECT_TRUE(eventually([&] { return dead(served_by); }));
        }
        p.send(SIGTERM);
        EXPECT_NE(p.wait(), -1);
    }
    ::close(listening);
}

TEST_F(ServiceManager, WhatIsForAnotherProcessIsLeftToIt) {
    program_surroundings around;
    around.environment = {{"LATCHKEY_SERVERS", servers_}, {"LISTEN_FDS", "1"}, {"LISTEN_PID", "1"}};
    around.process_ids = {"SYSTEMD_EXEC_PID"};
    program p({"lock",
               path_,
               "--",
               "sh",
               "-c",
               "echo $LISTEN_FDS $LISTEN_PID; test $SYSTEMD_EXEC_PID = $$"},
              around);
    EXPECT_EQ(p.wait(), 0);
    EXPECT_EQ(p.out(), "1 1\n");
}

TEST_F(ServiceManager, ReadyUnitIsOneThatHasWhatItIsFor) {
    const commands all{{"lock", path_},
                       {"elect", path_, "--", "sleep", "1000"},
                       {"join", path_ + ".group", "me", "--", "sleep", "1000"},
                       {"serve", "--listen", "127.0.0.1:0"},
                       {"dev-server", "--listen", "127.0.0.1:0"}};
    for (const auto& command : all) {
        program p(command, unit("0"));
        EXPECT_NE(manager_.next("READY=1\n"), "") << command.front();
        p.send(SIGTERM);
        EXPECT_NE(p.wait(), -1);
    }
}

}  // namespace
}  // namespace latchkey::test
