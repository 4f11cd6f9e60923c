#include "cli_supervisor_fixture.hpp"

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <sys/wait.h>

namespace latchkey::cli {

namespace {

class Supervisor : public supervisor_fixture {};

// Leaves its group and session, and its parent at once; nobody but a subreaper finds it.
constexpr const char* with_stray_grandchild =
    "setsid sh -c '(trap \"\" TERM HUP INT; exec sh -c \"echo \\$\\$; exec sleep 1000\" "
    ">$DIR/stray) &'"
    "& echo $$ >$DIR/main; exec sleep 1000";

TEST_F(Supervisor, ReportsTheCommandsStatus) {
    supervisor s(shell("exit 3"), arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    const auto last = next(s);
    EXPECT_EQ(last.what, kind::ended);
    EXPECT_EQ(exit_status::of_command(last.number), 3);
    ::kill(s.pid(), SIGKILL);
    EXPECT_EQ(next(s).what, kind::supervisor_died);
    EXPECT_EQ(next(s).what, kind::supervisor_died);
}

TEST_F(Supervisor, RunsTheCommandAgain) {
    supervisor s(shell("echo $LATCHKEY_TOKEN >>$DIR/runs; exec sleep 1000"), arriving_);
    for (int i = 1; i <= 2; ++i) {
        run(s, 1h);
        EXPECT_EQ(next(s).what, kind::started);
        ASSERT_TRUE(eventually([&] { return content("runs").size() == 3U * i; }));
        s.end_now();
        EXPECT_EQ(next(s).what, kind::terminating);
        EXPECT_EQ(next(s).what, kind::ended_by_loss);
    }
    run(s, -1s);
    EXPECT_EQ(next(s).what, kind::ended_by_loss) << "too late to begin";
    run(s);
    const auto started = next(s);
    EXPECT_EQ(started.what, kind::started);
    s.forward(SIGTERM);
    EXPECT_EQ(exit_status::of_command(next(s).number), 143);
    EXPECT_TRUE(dead(started.number));
}

TEST_F(Supervisor, ReportsTheSignalThatEndedTheCommand) {
    supervisor s(shell("kill -SEGV $$"), arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    EXPECT_EQ(exit_status::of_command(next(s).number), 139);
}

TEST_F(Supervisor, ReportsWhyTheCommandCannotRun) {
    supervisor missing({"/nonexistent/command"}, arriving_);
    run(missing);
    const auto not_found = next(missing);
    EXPECT_EQ(not_found.what, kind::not_started);
    EXPECT_EQ(not_found.number, ENOENT);

    supervisor folder({folder_.string()}, arriving_);
    run(folder);
    EXPECT_EQ(next(folder).number, EACCES);
}

TEST_F(Supervisor, RunsNothingUntilItIsTold) {
    { supervisor s(shell("touch $DIR/ran"), arriving_); }
    EXPECT_FALSE(exists("ran"));
}

TEST_F(Supervisor, AddsSettingsToTheEnvironment) {
    ::setenv("LATCHKEY_TOKEN", "old", 1);
    supervisor s(shell("env >$DIR/env"), arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    EXPECT_EQ(next(s).what, kind::ended);
    const auto env = '\n' + content("env");
    EXPECT_THAT(env, testing::HasSubstr("\nLATCHKEY_TOKEN=42\n"));
    EXPECT_THAT(env, testing::HasSubstr("\nLATCHKEY_PATH=/a b\n"));
    EXPECT_THAT(env, testing::Not(testing::HasSubstr("old")));
    ::unsetenv("LATCHKEY_TOKEN");
}

TEST_F(Supervisor, LeavesTheCommandTheSignalsThatLatchkeyFound) {
    const auto status = [this](const char* name) {
        supervisor s(shell(std::string("grep -E 'Sig(Blk|Ign)' /proc/self/status >$DIR/") + name),
                     arriving_);
        run(s);
        EXPECT_EQ(next(s).what, kind::started);
        EXPECT_EQ(next(s).what, kind::ended);
        return content(name);
    };
    EXPECT_EQ(status("plain"), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(Supervisor, GivesTheCommandAGroupOfItsOwn) {
    supervisor s(shell("cut -d' ' -f1,5 /proc/$$/stat >$DIR/stat"), arriving_);
    run(s);
    const auto started = next(s);
    EXPECT_EQ(next(s).what, kind::ended);
    const auto pid = std::to_string(started.number);
    EXPECT_EQ(content("stat"), pid + ' ' + pid + '\n');
}

TEST_F(Supervisor, ForwardsSignalsToTheGroup) {
    supervisor s(shell("trap 'exit 9' USR1; (trap 'echo got >$DIR/child; exit' USR1; echo 1 "
                       ">$DIR/ready; while :; do sleep 0.01; done) & while :; do sleep 0.01; done"),
                 arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return exists("ready"); }));
    s.forward(SIGUSR1);
    EXPECT_EQ(exit_status::of_command(next(s).number), 9);
    EXPECT_TRUE(eventually([&] { return content("child") == "got\n"; }));
}

TEST_F(Supervisor, TerminatesThenKillsWhenTheDeadlineComes) {
    supervisor s(shell("trap 'echo >$DIR/term' TERM; while :; do sleep 0.01; done"), arriving_);
    const auto deadline = boottime_clock::now() + 3s;
    run(s, 3s, 2s);
    EXPECT_EQ(next(s).what, kind::started);
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_LT(boottime_clock::now(), deadline);
    const auto last = next(s);
    EXPECT_EQ(last.what, kind::ended_by_loss);
    EXPECT_EQ(exit_status::of_command(last.number), 128 + SIGKILL);
    EXPECT_TRUE(exists("term"));
}

TEST_F(Supervisor, CallsAnEndOnTermALossAlsoWhenTheCommandSucceeds) {
    supervisor s(shell("trap 'exit 0' TERM; while :; do sleep 0.01; done"), arriving_);
    run(s, 1500ms, 1s);
    EXPECT_EQ(next(s).what, kind::started);
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
}

TEST_F(Supervisor, TerminatesAStoppedCommandToo) {
    supervisor s(shell("trap 'echo >$DIR/term; exit' TERM; kill -STOP $$; sleep 1000"), arriving_);
    run(s, 4s, 3s);
    EXPECT_EQ(next(s).what, kind::started);
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
    EXPECT_TRUE(exists("term"));
}

TEST_F(Supervisor, LetsTheCommandRunWhileTheDeadlineMoves) {
    supervisor s(shell("echo $$ >$DIR/main; while ! [ -e $DIR/go ]; do sleep 0.01; done"),
                 arriving_);
    const auto first_deadline = boottime_clock::now() + 2s;
    run(s, 2s, 500ms);
    EXPECT_EQ(next(s).what, kind::started);
    while (boottime_clock::now() < first_deadline + 500ms) {
        s.move_deadline(boottime_clock::now() + 10s);
        ::poll(nullptr, 0, 20);
    }
    EXPECT_FALSE(dead(pid_in("main")));
    std::ofstream(folder_ / "go").close();
    EXPECT_EQ(next(s).what, kind::ended);
}

TEST_F(Supervisor, RunsNothingWhenTheDeadlineHasPassed) {
    supervisor s(shell("touch $DIR/ran"), arriving_);
    run(s, -1s);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
    EXPECT_FALSE(exists("ran"));
}

TEST_F(Supervisor, KillsWhatLeftTheGroupAndItsParent) {
    supervisor s(shell(with_stray_grandchild), arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    const pid_t stray = pid_in("stray");
    const pid_t main = pid_in("main");
    ASSERT_NE(::getpgid(stray), ::getpgid(main));
    ASSERT_FALSE(dead(stray));
    s.end_now();
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
    EXPECT_TRUE(dead(stray));
    EXPECT_TRUE(dead(main));
}

TEST_F(Supervisor, KillsFasterThanACommandForks) {
    supervisor s(shell("echo 'sh -c \"$FORKER\" & sh -c \"$FORKER\" & sleep 0.05' >$DIR/f; "
                       "FORKER=$(cat $DIR/f); export FORKER; trap '' TERM; i=0; "
                       "while [ $i -lt 4 ]; do (while :; do sleep 0.02 & sleep 0.01; done) & "
                       "i=$((i+1)); done; echo 1 >$DIR/ready; wait"),
                 arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return exists("ready"); }));
    s.end_now();
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
}

TEST_F(Supervisor, LeavesTheBackgroundOfACommandThatEndedAlone) {
    {
        supervisor s(shell("sleep 1000 & echo $! >$DIR/background"), arriving_);
        run(s);
        EXPECT_EQ(next(s).what, kind::started);
        EXPECT_EQ(next(s).what, kind::ended);
    }
    const pid_t background = pid_in("background");
    EXPECT_FALSE(dead(background));
    ::kill(background, SIGKILL);
}

TEST_F(Supervisor, KillsEverythingWhenLatchkeyIsKilled) {
    const pid_t latchkey = stand_in(with_stray_grandchild, 1h);
    const pid_t stray = pid_in("stray");
    const pid_t main = pid_in("main");
    ASSERT_FALSE(dead(stray));
    ::kill(latchkey, SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    ::waitpid(latchkey, nullptr, 0);
}

TEST_F(Supervisor, KillsEverythingWhenLatchkeyIsStopped) {
    const pid_t latchkey = stand_in(with_stray_grandchild, 3s);
    const pid_t stray = pid_in("stray");
    const pid_t main = pid_in("main");
    ::kill(latchkey, SIGSTOP);
    ASSERT_TRUE(eventually([&] { return stopped(latchkey); }));
    ASSERT_FALSE(dead(main));
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    ::kill(latchkey, SIGCONT);
    int status = 0;
    ::waitpid(latchkey, &status, 0);
    EXPECT_EQ(exit_status::of_command(status), exit_status::lock_lost);
}

TEST_F(Supervisor, OutlivesSignalsThatWouldEndIt) {
    supervisor s(shell("echo $$ >$DIR/main; while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 5"),
                 arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    pid_in("main");
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) {
        ::kill(s.pid(), signal);
    }
    std::ofstream(folder_ / "go").close();
    EXPECT_EQ(exit_status::of_command(next(s).number), 5);
}

TEST_F(Supervisor, TakesTheCommandWithItWhenItIsKilled) {
    supervisor s(shell("echo $$ >$DIR/main; exec sleep 1000"), arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    const pid_t main = pid_in("main");
    ::kill(s.pid(), SIGKILL);
    EXPECT_EQ(next(s).what, kind::supervisor_died);
    EXPECT_TRUE(eventually([&] { return dead(main); }));
}

TEST_F(Supervisor, EndsTheCommandWhenItIsDestroyed) {
    pid_t main = 0;
    {
        supervisor s(shell("echo $$ >$DIR/main; exec sleep 1000"), arriving_);
        run(s);
        main = pid_in("main");
    }
    EXPECT_TRUE(dead(main));
}

}  // namespace

}  // namespace latchkey::cli
