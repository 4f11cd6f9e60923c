#include <latchkey/leader_observer.hpp>

#include "command_fixture.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;

class LockCommand : public command_fixture {};

const std::map<int, std::string> end_signals{{SIGINT, "INT"},
                                             {SIGTERM, "TERM"},
                                             {SIGHUP, "HUP"},
                                             {SIGQUIT, "QUIT"},
                                             {SIGUSR1, "USR1"},
                                             {SIGUSR2, "USR2"}};

struct command_case {
    const char* name;
    words command;
    int status;
    const char* out = "";
};

class LockCommandRuns : public LockCommand, public ::testing::WithParamInterface<command_case> {};

TEST_P(LockCommandRuns, TheCommandAndReleasesTheLock) {
    const auto p = run("lock PATH", GetParam().command, {.standard_input = "from stdin\n"});
    EXPECT_EQ(out_of(p, GetParam().status), GetParam().out);
    EXPECT_EQ(p->err(), "") << "it says nothing unless it is asked";
    EXPECT_EQ(participants(), 0U);
}

const command_case command_cases[]{
    {"ThatSucceeds", {"--", "true"}, 0},
    {"ThatFails", {"-c", "exit 42"}, 42},
    {"ThatASignalEnds", {"-c", "kill -9 $$"}, 137},
    {"WithItsOutput", {"-c", "echo data"}, 0, "data\n"},
    {"WithStandardInput", {"--", "cat"}, 0, "from stdin\n"},
    {"WithoutDashes", {"echo", "-n", "a", "--", "b"}, 0, "a -- b"},
    {"AsAStringForTheShell", {"-c", "echo one | tr o 0; exit 3"}, 3, "0ne\n"},
    {"InAGroupOfItsOwn", {"-c", "set -- $(cat /proc/$$/stat); test $1 = $5"}, 0},
    {"WithTheSignalsThatItFound",
     {"-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"},
     0,
     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"},
};

INSTANTIATE_TEST_SUITE_P(, LockCommandRuns, ::testing::ValuesIn(command_cases), [](const auto& p) {
    return p.param.name;
});

// `env` shows what a shell would hide: a variable that is there twice.
TEST_F(LockCommand, DescribesTheLockInTheEnvironment) {
    long long last = 0;
    for (const char* before : {"5", "old"}) {
        const auto p = run("lock PATH -- env", {}, {.environment = {{"LATCHKEY_TOKEN", before}}});
        std::map<std::string, words> values;
        for (const std::string& line : lines_of(out_of(p))) {
            const auto end = line.find('=');
            values[line.substr(0, end)].push_back(line.substr(end + 1));
        }
        EXPECT_THAT(values["LATCHKEY_PATH"], ElementsAre(path_));
        EXPECT_THAT(values["LATCHKEY_NODE"], ElementsAre(StartsWith(path_ + "/_c_")));
        ASSERT_THAT(values["LATCHKEY_TOKEN"], SizeIs(1));
        const long long token = std::atoll(values["LATCHKEY_TOKEN"][0].c_str());
        EXPECT_GT(token, last);
        last = token;
    }
}

TEST_F(LockCommand, ThatCannotRunReleasesTheLock) {
    folder_.write("text");
    for (const std::string line : {"lock PATH --", "elect PATH --"}) {
        EXPECT_THAT(err_of(run(line, {"no-such-command"}), 127),
                    HasSubstr("cannot run 'no-such-command': No such file"));
        EXPECT_EQ(run(line, {folder_.path()})->wait(), 126);
        EXPECT_EQ(run(line, {folder_ / "text"})->wait(), 126);
        EXPECT_EQ(participants(), 0U);
        EXPECT_THAT(leader_observer::participants(view(), path_), IsEmpty());
    }
}

TEST_F(LockCommand, TriesOrWaitsAsLongAsItsOptionsSay) {
    const auto holder = holding("lock PATH");
    EXPECT_EQ(err_of(run("lock -n PATH -- true"), 1), "");
    EXPECT_EQ(run("lock -w 0 PATH -- true")->wait(), 1);
    EXPECT_EQ(run("lock -n -E 99 PATH -- true")->wait(), 99);
    EXPECT_EQ(run("lock -n -E0 PATH -- true")->wait(), 0);

    const auto begin = std::chrono::steady_clock::now();
    // A slow machine does not learn in this time that it is taken, and says that no server answers.
    double limit = 0.7;
    EXPECT_TRUE(eventually([&] {
        const int status = run("lock -E 5 -w " + std::to_string(limit) + " PATH -- true")->wait();
        limit *= 2;
        EXPECT_THAT(status, AnyOf(5, 69));
        return status == 5;
    }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 700ms);
    EXPECT_TRUE(eventually_participants(1));
}

TEST_F(LockCommand, WaitsForItsTurn) {
    const auto holder = holding("lock PATH");
    const auto waiting = run_sh("lock --verbose PATH", "touch $DIR/ran");
    EXPECT_TRUE(eventually_says(waiting, "waiting behind 1"));
    EXPECT_FALSE(folder_.has("ran"));
    EXPECT_EQ(status_after(SIGTERM, holder), 0);
    EXPECT_EQ(waiting->wait(), 0) << waiting->err();
    EXPECT_TRUE(folder_.has("ran"));
}

TEST_F(LockCommand, WithoutCommandPrintsOneLineAndHolds) {
    for (const auto& [signal, name] : end_signals) {
        const auto p = holding("lock PATH");
        const participant who = holder();
        EXPECT_EQ(p->out(),
                  path_ + ' ' + path_ + '/' + who.name + ' ' +
                      fencing_token{.zxid = who.czxid}.to_string() + '\n');
        EXPECT_EQ(status_after(signal, p), 0) << name;
        EXPECT_EQ(participants(), 0U) << name;
    }
}

TEST_F(LockCommand, PrintsJsonForPrograms) {
    const auto p = holding("lock --json --verbose PATH");
    const auto object = nlohmann::json::parse(p->out());
    EXPECT_EQ(object.at("path"), path_);
    EXPECT_EQ(object.at("token"), fencing_token{.zxid = holder().czxid}.to_string());
    EXPECT_EQ(status_after(SIGTERM, p), 0);
    words events;
    for (const std::string& line : lines_of(p->err())) {
        events.push_back(nlohmann::json::parse(line).at("event"));
    }
    EXPECT_THAT(events,
                ::testing::IsSupersetOf({"connecting", "connected", "acquired", "released"}));
}

TEST_F(LockCommand, ReleasesWhenItCannotPrint) {
    for (const char* line : {"lock PATH", "elect -l PATH", "who PATH"}) {
        EXPECT_EQ(run(line, {}, {.closed_stdout = true})->wait(), 74) << line;
        EXPECT_EQ(participants(), 0U) << line;
    }
}

// Nobody but the servers' superuser could repair a directory that was created with such a list.
TEST_F(LockCommand, ListThatShutsItsAuthorOutIsRefusedBeforeAnythingIsWritten) {
    program_surroundings ops{.environment = {{"LATCHKEY_AUTH", "digest ops:secret"}}};
    const std::string hash = "w4PIv8/Wzcq4qj4/MfEQ8pvUSS4=";  // of ops:secret
    for (const std::string& list : words_of("digest:ops:secret:cdrwa digest:ops:AAAA:cdrwa "
                                            "world:anyone:r digest:other:" +
                                            hash + ":cdrwa digest:ops:" + hash + ":crwa")) {
        EXPECT_THAT(err_of(run("lock -n --acl " + list + " PATH -- true", {}, ops), 64),
                    Not(HasSubstr("secret")))
            << list;
        program_surroundings variable = ops;
        variable.environment["LATCHKEY_ACL"] = list;
        EXPECT_EQ(run("lock -n PATH -- true", {}, variable)->wait(), 64) << list;
    }
    EXPECT_EQ(run("lock -n PATH -- true")->wait(), 0) << "nothing was written, so it is open";
    for (const std::string& list : words_of("ip:127.0.0.1:cdr digest:ops:" + hash + ":cdrwa")) {
        const auto fine = run("lock -n --acl " + list + " PATH -- true", {}, ops);
        EXPECT_EQ(fine->wait(), 0) << list << fine->err();
    }
}

TEST_F(LockCommand, GraceIsCheckedAgainstTheTimeoutThatTheServersGrant) {
    EXPECT_THAT(err_of(run("lock -t 100000 --grace 20000 PATH -- true"), 64),
                AllOf(HasSubstr("20000 s"), HasSubstr("that the servers granted")));
    EXPECT_EQ(participants(), 0U);
}

TEST_F(LockCommand, UnreachableServersAreNamed) {
    for (const char* options : {"-w 0.5", "-n -t 0.5", "-n -w 0.5"}) {
        const auto p = run(std::string("lock -z 127.0.0.1:1 ") + options + " PATH -- true");
        EXPECT_THAT(err_of(p, 69), HasSubstr("127.0.0.1:1"));
    }
    const auto unknown = in_time(2, "no-such-host.invalid", [&](const std::string& limit) {
        return run("lock -z no-such-host.invalid -w " + limit + " PATH -- true");
    });
    EXPECT_THAT(err_of(unknown, 69), HasSubstr("no-such-host.invalid"));
}

TEST_F(LockCommand, WaitsForUnreachableServersAndReportsThemOnce) {
    const auto p = run("lock -z 127.0.0.1:1 PATH -- true");
    ASSERT_TRUE(eventually_says(p, "no server reached yet"));
    EXPECT_TRUE(p->running());
    EXPECT_EQ(status_after(SIGINT, p), 130);
    const auto errors = p->err();
    EXPECT_THAT(errors, HasSubstr("127.0.0.1:1"));
    EXPECT_EQ(errors.find("no server"), errors.rfind("no server"));
}

TEST_F(LockCommand, SignalWhileWaitingLeavesTheQueue) {
    const auto holder = holding("lock PATH");
    for (const auto& [signal, name] : end_signals) {
        const auto waiting = run("lock PATH -- true");
        ASSERT_TRUE(eventually_participants(2));
        EXPECT_EQ(status_after(signal, waiting), 128 + signal);
        EXPECT_EQ(participants(), 1U) << name;
    }
}

TEST_F(LockCommand, SignalEndsAHoldThatNobodyReadsOf) {
    const auto p = run("lock --verbose PATH", {}, {.stalled = {1}});
    ASSERT_TRUE(eventually_says(p, "acquired"));
    EXPECT_EQ(status_after(SIGTERM, p), 0);
    EXPECT_EQ(participants(), 0U);
}

TEST_F(LockCommand, SignalThatWasIgnoredAtTheStartStaysIgnored) {
    const auto holder = holding("lock PATH");
    const auto waiting = run_sh("lock PATH", "kill -HUP $$; exit 4", {.ignored_signals = {SIGHUP}});
    ASSERT_TRUE(eventually_participants(2));
    waiting->send(SIGHUP);
    holder->send(SIGTERM);
    EXPECT_EQ(waiting->wait(), 4);
}

TEST_F(LockCommand, SignalsAreForwardedToTheCommand) {
    for (const auto& [signal, name] : end_signals) {
        const auto p = run_sh(
            "lock PATH",
            "trap 'exit 33' " + name + "; touch $DIR/" + name + "; while :; do sleep 0.01; done");
        ASSERT_TRUE(folder_.eventually_has(name));
        EXPECT_EQ(status_after(signal, p), 33) << name;
    }
    const auto untrapped = run_sh("lock PATH", "touch $DIR/ready; exec sleep 1000");
    ASSERT_TRUE(folder_.eventually_has("ready"));
    EXPECT_EQ(status_after(SIGTERM, untrapped), 143);
}

TEST_F(LockCommand, SignalsAreForwardedToTheCommandsGroup) {
    const auto p = run_sh("lock PATH",
                          "trap 'exit 9' USR1; (trap 'touch $DIR/child; exit' USR1; "
                          "touch $DIR/ready; while :; do sleep 0.01; done) & "
                          "while :; do sleep 0.01; done");
    ASSERT_TRUE(folder_.eventually_has("ready"));
    EXPECT_EQ(status_after(SIGUSR1, p), 9);
    EXPECT_TRUE(folder_.eventually_has("child"));
}

TEST_F(LockCommand, LeavesTheBackgroundOfACommandThatEndedAlone) {
    const std::string script = "sleep 1000 >/dev/null & echo $! >$DIR/background";
    EXPECT_EQ(run_sh("lock PATH", script)->wait(), 0);
    const pid_t background = folder_.pid_in("background");
    EXPECT_FALSE(dead(background));
    ::kill(background, SIGKILL);
}

TEST_F(LockCommand, UsesCredentialsAndReportsThatTheyDoNotSuffice) {
    folder_.write("auth", "digest jo:secret\n");
    ::chmod((folder_ / "auth").c_str(), 0600);
    EXPECT_EQ(run("lock --auth-file", {folder_ / "auth", path_, "--", "true"})->wait(), 0);
    EXPECT_EQ(run("lock PATH -- true", {}, jo)->wait(), 0);

    // Held meanwhile: servers remove an empty directory, and its access control list with it.
    const auto holder = holding("lock PATH", {}, jo);
    EXPECT_THAT(err_of(run("lock PATH -- true"), 77), HasSubstr(path_));
    EXPECT_EQ(run("lock -n PATH -- true")->wait(), 77);
}

TEST_F(LockCommand, ReportsADirectoryThatEveryoneMayChange) {
    // Held meanwhile: servers remove an empty directory.
    const auto stranger = holding("lock PATH");
    const auto p = run("lock -w 1 PATH -- true", {}, jo);
    p->wait();
    EXPECT_THAT(p->err(), HasSubstr("everyone has CREATE, DELETE, WRITE, ADMIN on it"));
}

TEST_F(LockCommand, KeepsCredentialsFromTheCommandWithoutPassAuth) {
    const auto seen = [&](const std::string& line) {
        const char* look = "echo ${LATCHKEY_AUTH-none}; cat /proc/$PPID/environ || :";
        return out_of(run_sh(line, look, jo));
    };
    EXPECT_THAT(seen("lock PATH"), AllOf(StartsWith("none\n"), Not(HasSubstr("secret"))))
        << "the supervisor has it";
    EXPECT_THAT(seen("lock --pass-auth PATH"), StartsWith("digest jo:secret\n"));
    EXPECT_THAT(seen("elect --once PATH.elect"), StartsWith("none\n"));
    EXPECT_THAT(seen("elect --once --pass-auth PATH.elect"), StartsWith("digest jo:secret\n"));
}

TEST_F(LockCommand, ManyProcessesTakeTurns) {
    constexpr std::size_t processes = 6;
    std::vector<running_program> all;
    while (all.size() < processes) {
        all.push_back(run_sh("lock PATH",
                             "echo begin $LATCHKEY_TOKEN >>$DIR/log; sleep 0.05; "
                             "echo end $LATCHKEY_TOKEN >>$DIR/log"));
    }
    for (const auto& p : all) {
        EXPECT_EQ(p->wait(), 0) << p->err();
    }
    const words log = lines_of(folder_.content("log"));
    ASSERT_THAT(log, SizeIs(2 * processes));
    long long last = 0;
    for (std::size_t i = 0; i < log.size(); i += 2) {
        const std::string token = words_of(log[i]).back();
        EXPECT_EQ(log[i], "begin " + token);
        EXPECT_EQ(log[i + 1], "end " + token);
        EXPECT_GT(std::stoll(token), last);
        last = std::stoll(token);
    }
    EXPECT_EQ(participants(), 0U);
}

}  // namespace

}  // namespace latchkey::test
