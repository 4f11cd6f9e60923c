#include "cli_supervisor_fixture.hpp"
#include "supervisor/kill_schedule.hpp"
#include "too_slow.hpp"

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <sys/wait.h>

namespace latchkey::cli {

namespace {

class Supervisor : public supervisor_fixture {};

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
        ASSERT_TRUE(
            eventually([&] { return content("runs").size() == 3U * static_cast<unsigned>(i); }));
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

TEST_F(Supervisor, RunsNothingBeforeItsOrder) {
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
    EXPECT_THAT(env, testing::Not(testing::HasSubstr("\nLATCHKEY_TOKEN=old\n")));
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

// kill_schedule's own tests check the times. These tests check that a timer applies them to the
// command. A deadline is moved up when the command is as far as the test needs it.

TEST_F(Supervisor, TerminatesBeforeTheDeadlineByTheGrace) {
    supervisor s(shell("trap 'echo >$DIR/term' TERM; echo 1 >$DIR/ready; "
                       "while :; do sleep 0.01; done"),
                 arriving_);
    run(s, 2h, 1h);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return exists("ready"); }));
    const auto at = boottime_clock::now() + 1s;
    s.move_deadline(at + 1h);
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_GE(boottime_clock::now(), at);
    EXPECT_TRUE(eventually([&] { return exists("term"); }));
    s.end_now();
    const auto last = next(s);
    EXPECT_EQ(last.what, kind::ended_by_loss);
    EXPECT_EQ(exit_status::of_command(last.number), 128 + SIGKILL);
}

TEST_F(Supervisor, KillsAtTheDeadline) {
    supervisor s(shell("trap '' TERM; echo 1 >$DIR/ready; while :; do sleep 0.01; done"),
                 arriving_);
    run(s, 1h, 0s);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return exists("ready"); }));
    const auto deadline = boottime_clock::now() + 1s;
    s.move_deadline(deadline);
    EXPECT_EQ(next(s).what, kind::terminating);
    const auto last = next(s);
    EXPECT_EQ(last.what, kind::ended_by_loss);
    EXPECT_EQ(exit_status::of_command(last.number), 128 + SIGKILL);
    EXPECT_GE(boottime_clock::now(), deadline - kill_schedule::safety);
}

TEST_F(Supervisor, CallsAnEndOnTermALossAlsoWhenTheCommandSucceeds) {
    supervisor s(shell("trap 'exit 0' TERM; echo 1 >$DIR/ready; while :; do sleep 0.01; done"),
                 arriving_);
    run(s, 2h, 1h);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return exists("ready"); }));
    s.move_deadline(boottime_clock::now() + 30min);
    EXPECT_EQ(next(s).what, kind::terminating);
    const auto last = next(s);
    EXPECT_EQ(last.what, kind::ended_by_loss);
    EXPECT_EQ(exit_status::of_command(last.number), 0);
}

TEST_F(Supervisor, TerminatesAStoppedCommandToo) {
    supervisor s(shell("trap 'echo >$DIR/term; exit' TERM; kill -STOP $$; sleep 1000"), arriving_);
    run(s, 2h, 1h);
    const auto started = next(s);
    EXPECT_EQ(started.what, kind::started);
    ASSERT_TRUE(eventually([&] { return stopped(started.number); }));
    s.move_deadline(boottime_clock::now() + 30min);
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
    EXPECT_TRUE(exists("term"));
}

TEST_F(Supervisor, LetsTheCommandRunWhileTheDeadlineMoves) {
    supervisor s(shell("while ! [ -e $DIR/go ]; do sleep 0.01; done"), arriving_);
    run(s);
    const auto started = next(s);
    EXPECT_EQ(started.what, kind::started);
    const auto first_deadline = boottime_clock::now() + 3s;
    const test::time_window before_term(1s);
    s.move_deadline(first_deadline);
    s.move_deadline(first_deadline + 1h);
    if (before_term.is_over()) {
        GTEST_SKIP() << test::too_slow << "the deadline came before it was moved";
    }
    ASSERT_TRUE(eventually([&] { return boottime_clock::now() > first_deadline; }));
    EXPECT_FALSE(dead(started.number));
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
    script("forker", "trap '' TERM; echo >>$DIR/forks; while :; do sleep 0.02 & sleep 0.01; done");
    supervisor s(shell("for i in 1 2 3 4; do setsid sh $DIR/forker & done; "
                       "exec sh $DIR/forker"),
                 arriving_);
    run(s);
    EXPECT_EQ(next(s).what, kind::started);
    ASSERT_TRUE(eventually([&] { return content("forks").size() == 5; }));
    s.end_now();
    EXPECT_EQ(next(s).what, kind::terminating);
    EXPECT_EQ(next(s).what, kind::ended_by_loss);
    EXPECT_THAT(survivors(), testing::IsEmpty());
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
    const pid_t latchkey = stand_in(with_stray_grandchild);
    const pid_t stray = pid_in("stray");
    const pid_t main = pid_in("main");
    ASSERT_FALSE(dead(stray));
    ::kill(latchkey, SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    ::waitpid(latchkey, nullptr, 0);
}

TEST_F(Supervisor, KillsEverythingWhenLatchkeyIsStopped) {
    const pid_t latchkey = stand_in(with_stray_grandchild);
    const pid_t stray = pid_in("stray");
    const pid_t main = pid_in("main");
    std::ofstream(folder_ / "stop").close();
    ASSERT_TRUE(eventually([&] { return stopped(latchkey); }));
    EXPECT_TRUE(eventually([&] { return dead(main) && dead(stray); }));
    ASSERT_TRUE(stopped(latchkey));
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
