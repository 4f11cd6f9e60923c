#include "lock_fixture.hpp"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LockCommand : public lock_fixture {
protected:
    LockCommand() : lock_fixture(real_ensemble::shared().connect_string()) {}
};

TEST_F(LockCommand, ExitsWithTheCommandsStatus) {
    EXPECT_EQ(lock({}, {"--", "true"})->wait(), 0);
    EXPECT_EQ(lock_sh({}, "exit 42")->wait(), 42);
    EXPECT_EQ(lock_sh({}, "kill -9 $$")->wait(), 137);
    EXPECT_EQ(participants(), 0U);
}

TEST_F(LockCommand, SaysNothingUnlessAsked) {
    const auto p = lock_sh({}, "echo data");
    EXPECT_EQ(p->wait(), 0);
    EXPECT_EQ(p->out(), "data\n");
    EXPECT_EQ(p->err(), "");
}

TEST_F(LockCommand, TakesTheCommandWithoutDashesToo) {
    const auto p = lock({}, {"echo", "-n", "a", "--", "b"});
    EXPECT_EQ(p->wait(), 0);
    EXPECT_EQ(p->out(), "a -- b");
}

TEST_F(LockCommand, RunsAStringWithTheShell) {
    const auto p = lock({}, {"-c", "echo one | tr o 0; exit 3"});
    EXPECT_EQ(p->wait(), 3);
    EXPECT_EQ(p->out(), "0ne\n");
}

TEST_F(LockCommand, PassesStandardInputThrough) {
    program_surroundings typed;
    typed.standard_input = "from stdin\n";
    const auto p = lock({}, {"--", "cat"}, typed);
    EXPECT_EQ(p->wait(), 0);
    EXPECT_EQ(p->out(), "from stdin\n");
}

TEST_F(LockCommand, DescribesTheLockInTheEnvironment) {
    const auto p = lock_sh({}, "echo $LATCHKEY_PATH; echo $LATCHKEY_NODE; echo $LATCHKEY_TOKEN");
    EXPECT_EQ(p->wait(), 0);
    std::istringstream lines(p->out());
    std::string path;
    std::string node;
    std::int64_t token = 0;
    lines >> path >> node >> token;
    EXPECT_EQ(path, path_);
    EXPECT_THAT(node, StartsWith(path_ + "/_c_"));
    EXPECT_GT(token, 0);

    const auto later = lock_sh({}, "echo $LATCHKEY_TOKEN");
    EXPECT_EQ(later->wait(), 0);
    EXPECT_GT(std::stoll(later->out()), token);
}

TEST_F(LockCommand, ThatCannotRunReleasesTheLock) {
    const auto missing = lock({}, {"--", "no-such-command"});
    EXPECT_EQ(missing->wait(), 127);
    EXPECT_THAT(missing->err(), HasSubstr("cannot run 'no-such-command': No such file"));
    EXPECT_EQ(lock({}, {"--", folder_.string()})->wait(), 126);
    std::ofstream(folder_ / "text").close();
    EXPECT_EQ(lock({}, {"--", (folder_ / "text").string()})->wait(), 126);
    EXPECT_EQ(participants(), 0U);
}

TEST_F(LockCommand, TriesOrWaitsAsLongAsItsOptionsSay) {
    const auto holder = lock({});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    const auto tried = lock({"-n"}, {"--", "true"});
    EXPECT_EQ(tried->wait(), 1);
    EXPECT_EQ(tried->err(), "");
    EXPECT_EQ(lock({"-w", "0"}, {"--", "true"})->wait(), 1);
    EXPECT_EQ(lock({"-n", "-E", "99"}, {"--", "true"})->wait(), 99);
    EXPECT_EQ(lock({"-n", "-E0"}, {"--", "true"})->wait(), 0);

    const auto begin = std::chrono::steady_clock::now();
    // A slow machine does not learn in this time that it is taken, and says that no server answers.
    double limit = 0.7;
    EXPECT_TRUE(eventually([&] {
        const int status = lock({"-w", std::to_string(limit), "-E", "5"}, {"--", "true"})->wait();
        limit *= 2;
        EXPECT_THAT(status, AnyOf(5, 69));
        return status == 5;
    }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 700ms);
    EXPECT_TRUE(eventually_participants(1));
}

TEST_F(LockCommand, WaitsForItsTurn) {
    const auto holder = lock({});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    const auto waiting = lock({"--verbose"}, {"--", "touch", (folder_ / "ran").string()});
    ASSERT_TRUE(eventually_participants(2));
    EXPECT_TRUE(
        eventually([&] { return waiting->err().find("waiting behind 1") != std::string::npos; }));
    EXPECT_FALSE(exists("ran"));
    holder->send(SIGTERM);
    EXPECT_EQ(waiting->wait(), 0) << waiting->err();
    EXPECT_TRUE(exists("ran"));
    EXPECT_EQ(holder->wait(), 0);
}

TEST_F(LockCommand, WithoutCommandPrintsOneLineAndHolds) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        const auto holder = lock({});
        ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
        std::istringstream line(holder->out());
        std::string path;
        std::string node;
        std::string token;
        line >> path >> node >> token;
        EXPECT_EQ(holder->out(), path + ' ' + node + ' ' + token + '\n');
        EXPECT_EQ(path, path_);
        EXPECT_EQ(fencing_token{.zxid = queue().holder().value().czxid}.to_string(), token);
        EXPECT_EQ(path_ + '/' + queue().holder().value().name, node);
        holder->send(signal);
        EXPECT_EQ(holder->wait(), 0) << signal;
        EXPECT_EQ(participants(), 0U) << signal;
    }
}

TEST_F(LockCommand, PrintsJsonForPrograms) {
    const auto holder = lock({"--json", "--verbose"});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    const auto object = nlohmann::json::parse(holder->out());
    EXPECT_EQ(object.at("path"), path_);
    EXPECT_EQ(object.at("token"),
              fencing_token{.zxid = queue().holder().value().czxid}.to_string());
    holder->send(SIGTERM);
    EXPECT_EQ(holder->wait(), 0);
    std::istringstream lines(holder->err());
    std::vector<std::string> events;
    for (std::string line; std::getline(lines, line);) {
        events.push_back(nlohmann::json::parse(line).at("event"));
    }
    EXPECT_THAT(events, testing::IsSupersetOf({"connecting", "connected", "acquired", "released"}));
}

TEST_F(LockCommand, ReleasesWhenItCannotPrint) {
    program_surroundings nobody_reads;
    nobody_reads.closed_stdout = true;
    EXPECT_EQ(lock({}, {}, nobody_reads)->wait(), 74);
    EXPECT_EQ(participants(), 0U);
}

// Nobody but the servers' superuser could repair a directory that was created with such a list.
TEST_F(LockCommand, ListThatShutsItsAuthorOutIsRefusedBeforeAnythingIsWritten) {
    program_surroundings ops;
    ops.environment["LATCHKEY_AUTH"] = "digest ops:secret";
    const std::string hash = "w4PIv8/Wzcq4qj4/MfEQ8pvUSS4=";  // of ops:secret
    for (const std::string& list : {std::string("digest:ops:secret:cdrwa"),
                                    std::string("digest:ops:AAAA:cdrwa"),
                                    std::string("world:anyone:r"),
                                    "digest:ops:" + hash + ":crwa",
                                    "digest:other:" + hash + ":cdrwa"}) {
        const auto option = lock({"-n", "--acl", list}, {"--", "true"}, ops);
        EXPECT_EQ(option->wait(), 64) << list << option->err();
        EXPECT_THAT(option->err(), Not(HasSubstr("secret")));
        program_surroundings variable = ops;
        variable.environment["LATCHKEY_ACL"] = list;
        EXPECT_EQ(lock({"-n"}, {"--", "true"}, variable)->wait(), 64) << list;
    }
    EXPECT_EQ(lock({"-n"}, {"--", "true"})->wait(), 0) << "nothing was written, so it is open";
    for (const std::string& list :
         {"digest:ops:" + hash + ":cdrwa", std::string("ip:127.0.0.1:cdr")}) {
        const auto fine = lock({"-n", "--acl", list}, {"--", "true"}, ops);
        EXPECT_EQ(fine->wait(), 0) << list << fine->err();
    }
}

TEST_F(LockCommand, WrongUseNamesValueAndRemedy) {
    const auto refused = [](const words& arguments, const char* expected) {
        program p(arguments);
        EXPECT_EQ(p.wait(), 64) << testing::PrintToString(arguments);
        EXPECT_THAT(p.err(), HasSubstr(expected));
        EXPECT_EQ(p.out(), "");
    };
    refused({}, "Usage: latchkey COMMAND");
    refused({"lokc"}, "'lokc'");
    refused({"lock", "-z", servers_}, "path");
    refused({"lock", "-z", servers_, "-s", "-x", "/a"}, "shared or exclusive");
    refused({"lock", "-z", servers_, "relative", "true"}, "relative");
    refused({"lock", "-z", servers_, "/a/../b", "true"}, "/a/../b");
    refused({"lock", "-z", servers_, "/a\x1b[2J", "true"}, "U+001B");
    refused({"lock", "-z", servers_, "/" + std::string(2000, 'a'), "true"}, "aaaa");
    refused({"lock", "-z", "zk1:99999", "/a", "true"}, "99999");
    refused({"lock", "-z", "zk1:abc", "/a", "true"}, "abc");
    refused({"lock", "-z", "", "/a", "true"}, "latchkey:");
    refused({"lock", "-z", servers_, "--auth-file", "/nonexistent", "/a"}, "/nonexistent");
    refused({"lock", "-z", servers_, "-t", "4", "--grace", "1.5", "/a"}, "1.5 s");
}

TEST_F(LockCommand, GraceIsCheckedAgainstTheTimeoutThatTheServersGrant) {
    const auto p = lock({"-t", "100000", "--grace", "20000"}, {"--", "true"});
    EXPECT_EQ(p->wait(), 64);
    EXPECT_THAT(p->err(), HasSubstr("20000 s"));
    EXPECT_THAT(p->err(), HasSubstr("that the servers granted"));
    EXPECT_EQ(participants(), 0U);
}

TEST_F(LockCommand, HelpGoesToStdout) {
    program general({"--help"});
    EXPECT_EQ(general.wait(), 0);
    EXPECT_THAT(general.out(), HasSubstr("\n  lock "));
    program lock_help({"lock", "--help"});
    EXPECT_EQ(lock_help.wait(), 0);
    EXPECT_THAT(lock_help.out(), HasSubstr("--grace"));
    program version({"--version"});
    EXPECT_EQ(version.wait(), 0);
    EXPECT_THAT(version.out(), StartsWith("latchkey "));
}

TEST_F(LockCommand, UnreachableServersAreNamed) {
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    for (const words& options : {words{"-w", "0.5"}, {"-n", "-t", "0.5"}, {"-n", "-w", "0.5"}}) {
        const auto p = lock(options, {"--", "true"}, nowhere);
        EXPECT_EQ(p->wait(), 69);
        EXPECT_THAT(p->err(), HasSubstr("127.0.0.1:1"));
    }
    nowhere.environment["LATCHKEY_SERVERS"] = "no-such-host.invalid";
    const auto unknown = in_time(2, "no-such-host.invalid", [&](const std::string& limit) {
        return lock({"-w", limit}, {"--", "true"}, nowhere);
    });
    EXPECT_EQ(unknown->wait(), 69);
    EXPECT_THAT(unknown->err(), HasSubstr("no-such-host.invalid"));
}

TEST_F(LockCommand, WaitsForUnreachableServersAndReportsThemOnce) {
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    const auto p = lock({}, {"--", "true"}, nowhere);
    ASSERT_TRUE(
        eventually([&] { return p->err().find("no server reached yet") != std::string::npos; }));
    EXPECT_THAT(p->err(), HasSubstr("127.0.0.1:1"));
    EXPECT_TRUE(p->running());
    p->send(SIGINT);
    EXPECT_EQ(p->wait(), 130);
    const auto errors = p->err();
    EXPECT_EQ(errors.find("no server"), errors.rfind("no server"));
}

TEST_F(LockCommand, SignalWhileWaitingLeavesTheQueue) {
    const auto holder = lock({});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        const auto waiting = lock({}, {"--", "true"});
        ASSERT_TRUE(eventually_participants(2));
        waiting->send(signal);
        EXPECT_EQ(waiting->wait(), 128 + signal);
        EXPECT_EQ(participants(), 1U) << signal;
    }
}

TEST_F(LockCommand, SignalThatWasIgnoredAtTheStartStaysIgnored) {
    const auto holder = lock({});
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    program_surroundings nohup;
    nohup.ignored_signals = {SIGHUP};
    const auto waiting = lock({}, {"--", "sh", "-c", "kill -HUP $$; exit 4"}, nohup);
    ASSERT_TRUE(eventually_participants(2));
    waiting->send(SIGHUP);
    holder->send(SIGTERM);
    EXPECT_EQ(waiting->wait(), 4);
}

TEST_F(LockCommand, SignalsAreForwardedToTheCommand) {
    for (const auto& [signal, name] : std::vector<std::pair<int, std::string>>{{SIGINT, "INT"},
                                                                               {SIGTERM, "TERM"},
                                                                               {SIGHUP, "HUP"},
                                                                               {SIGQUIT, "QUIT"},
                                                                               {SIGUSR1, "USR1"},
                                                                               {SIGUSR2, "USR2"}}) {
        const auto p = lock_sh(
            {},
            "trap 'exit 33' " + name + "; touch $DIR/" + name + "; while :; do sleep 0.01; done");
        ASSERT_TRUE(eventually_exists(name.c_str()));
        p->send(signal);
        EXPECT_EQ(p->wait(), 33) << name;
    }
    const auto untrapped = lock_sh({}, "touch $DIR/ready; exec sleep 1000");
    ASSERT_TRUE(eventually_exists("ready"));
    untrapped->send(SIGTERM);
    EXPECT_EQ(untrapped->wait(), 143);
}

TEST_F(LockCommand, LeavesTheBackgroundOfACommandThatEndedAlone) {
    EXPECT_EQ(lock_sh({}, "sleep 1000 >/dev/null & echo $! >$DIR/background")->wait(), 0);
    const pid_t background = pid_in("background");
    EXPECT_FALSE(dead(background));
    ::kill(background, SIGKILL);
}

TEST_F(LockCommand, UsesCredentialsAndReportsThatTheyDoNotSuffice) {
    const auto auth = folder_ / "auth";
    std::ofstream(auth) << "digest jo:secret\n";
    ::chmod(auth.c_str(), 0600);
    EXPECT_EQ(lock({"--auth-file", auth.string()}, {"--", "true"})->wait(), 0);

    program_surroundings same;
    same.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    EXPECT_EQ(lock({}, {"--", "true"}, same)->wait(), 0);

    // Held meanwhile: servers remove an empty directory, and its access control list with it.
    const auto holder = lock({}, {}, same);
    ASSERT_TRUE(eventually([&] { return !holder->out().empty(); }));
    const auto anonymous = lock({}, {"--", "true"});
    EXPECT_EQ(anonymous->wait(), 77) << anonymous->err();
    EXPECT_THAT(anonymous->err(), HasSubstr(path_));
    EXPECT_EQ(lock({"-n"}, {"--", "true"})->wait(), 77);
}

TEST_F(LockCommand, ReportsADirectoryThatEveryoneMayChange) {
    const auto stranger = lock({}, {});  // held meanwhile: servers remove an empty directory
    ASSERT_TRUE(eventually([&] { return !stranger->out().empty(); }));
    program_surroundings jo;
    jo.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    const auto p = lock({"-w", "1"}, {"--", "true"}, jo);
    p->wait();
    EXPECT_THAT(p->err(), HasSubstr("everyone has CREATE, DELETE, WRITE, ADMIN on it"));
}

TEST_F(LockCommand, KeepsCredentialsFromTheCommandWithoutPassAuth) {
    program_surroundings jo;
    jo.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    const words look{
        "--", "/bin/sh", "-c", "echo ${LATCHKEY_AUTH-none}; cat /proc/$PPID/environ || :"};
    const auto p = lock({}, look, jo);
    EXPECT_EQ(p->wait(), 0) << p->err();
    EXPECT_THAT(p->out(), StartsWith("none\n"));
    EXPECT_THAT(p->out(), Not(HasSubstr("secret"))) << "the supervisor has it";
    const auto passing = lock({"--pass-auth"}, look, jo);
    EXPECT_EQ(passing->wait(), 0) << passing->err();
    EXPECT_THAT(passing->out(), StartsWith("digest jo:secret\n"));
}

TEST_F(LockCommand, ManyProcessesTakeTurns) {
    constexpr int processes = 6;
    const auto file = (folder_ / "log").string();
    std::vector<std::unique_ptr<program>> all;
    for (int i = 0; i < processes; ++i) {
        all.push_back(lock_sh({},
                              "echo begin $LATCHKEY_TOKEN >>$DIR/log; sleep 0.05; echo end "
                              "$LATCHKEY_TOKEN >>$DIR/log"));
    }
    for (const auto& p : all) {
        EXPECT_EQ(p->wait(), 0) << p->err();
    }
    std::ifstream log(file);
    std::int64_t last = 0;
    std::string begin;
    std::string end;
    std::int64_t first_token = 0;
    std::int64_t second_token = 0;
    int records = 0;
    while (log >> begin >> first_token >> end >> second_token) {
        EXPECT_EQ(begin + end, "beginend");
        EXPECT_EQ(first_token, second_token);
        EXPECT_GT(first_token, last);
        last = first_token;
        ++records;
    }
    EXPECT_EQ(records, processes);
    EXPECT_EQ(participants(), 0U);
}

}  // namespace

}  // namespace latchkey::test
