#include "cli_supervisor_fixture.hpp"
#include "guardian/guarded_session.hpp"
#include "guardian/guardian_process.hpp"
#include "options/auth_file.hpp"
#include "run/supervised_run.hpp"
#include "supervisor/kill_schedule.hpp"
#include "too_slow.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <poll.h>

// What the supervisor does that the tests of `latchkey lock` and `latchkey elect` do not show.

namespace latchkey::test {

namespace {

class Supervisor : public supervisor_fixture {
protected:
    bool eventually_ready() const { return folder_.eventually_has("ready"); }
};

// kill_schedule's own tests check the times. These tests check that a timer applies them to the
// command. A deadline is moved up when the command is as far as the test needs it.

TEST_F(Supervisor, TerminatesBeforeTheDeadlineByTheGrace) {
    running s(*this,
              "trap 'echo >$DIR/term' TERM; echo 1 >$DIR/ready; while :; do sleep 0.01; done",
              2h,
              1h);
    ASSERT_TRUE(eventually_ready());
    const auto at = boottime_clock::now() + 1s;
    s.move_deadline(at + 1h);
    EXPECT_EQ(s.next().what, kind::terminating);
    EXPECT_GE(boottime_clock::now(), at);
    EXPECT_TRUE(folder_.eventually_has("term"));
    s.end_now();
    const auto last = s.next();
    EXPECT_EQ(last.what, kind::ended_by_loss);
    EXPECT_EQ(exit_status::of_command(last.number), 128 + SIGKILL);
}

TEST_F(Supervisor, KillsAtTheDeadline) {
    running s(*this, "trap '' TERM; echo 1 >$DIR/ready; while :; do sleep 0.01; done", 1h, 0s);
    ASSERT_TRUE(eventually_ready());
    const auto deadline = boottime_clock::now() + 1s;
    s.move_deadline(deadline);
    int status = 0;
    EXPECT_TRUE(s.ends_by_loss(&status));
    EXPECT_EQ(status, 128 + SIGKILL);
    EXPECT_GE(boottime_clock::now(), deadline - kill_schedule::safety);
}

TEST_F(Supervisor, TerminatesAStoppedCommandToo) {
    running s(*this, "trap 'echo >$DIR/term; exit' TERM; kill -STOP $$; sleep 1000", 2h, 1h);
    ASSERT_TRUE(eventually([&] { return stopped(s.command); }));
    s.move_deadline(boottime_clock::now() + 30min);
    EXPECT_TRUE(s.ends_by_loss());
    EXPECT_TRUE(folder_.has("term"));
}

TEST_F(Supervisor, LetsTheCommandRunWhileTheDeadlineMoves) {
    running s(*this, "while ! [ -e $DIR/go ]; do sleep 0.01; done");
    const auto first_deadline = boottime_clock::now() + 3s;
    const time_window before_term(1s);
    s.move_deadline(first_deadline);
    s.move_deadline(first_deadline + 1h);
    if (before_term.is_over()) {
        GTEST_SKIP() << too_slow << "the deadline came before it was moved";
    }
    ASSERT_TRUE(eventually([&] { return boottime_clock::now() > first_deadline; }));
    EXPECT_FALSE(dead(s.command));
    folder_.write("go");
    EXPECT_EQ(s.next().what, kind::ended);
}

TEST_F(Supervisor, RunsNothingWhenTheDeadlineHasPassedButRunsTheNextOrder) {
    reporting_supervisor s(shell("echo $LATCHKEY_TOKEN >>$DIR/ran; exit 3"), arriving_);
    s.run(-1s);
    EXPECT_EQ(s.next().what, kind::ended_by_loss);
    EXPECT_FALSE(folder_.has("ran"));
    s.run();
    EXPECT_EQ(s.next().what, kind::started);
    const auto last = s.next();
    EXPECT_EQ(last.what, kind::ended);
    EXPECT_EQ(exit_status::of_command(last.number), 3);
    EXPECT_EQ(folder_.content("ran"), "42\n");
}

TEST_F(Supervisor, KillsFasterThanACommandForks) {
    folder_.write("forker",
                  "trap '' TERM; echo >>$DIR/forks; while :; do sleep 0.02 & sleep 0.01; done");
    running s(*this, "for i in 1 2 3 4; do setsid sh $DIR/forker & done; exec sh $DIR/forker");
    ASSERT_TRUE(eventually([&] { return folder_.content("forks").size() == 5; }));
    s.end_now();
    EXPECT_TRUE(s.ends_by_loss());
    EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(Supervisor, OutlivesSignalsThatWouldEndIt) {
    running s(*this, "echo $$ >$DIR/ready; while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 5");
    ASSERT_TRUE(eventually_ready());
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE}) {
        ::kill(s.pid(), signal);
    }
    folder_.write("go");
    EXPECT_EQ(exit_status::of_command(s.next().number), 5);
}

TEST_F(Supervisor, DeathOfItIsReportedAgainAndAgain) {
    running s(*this, "exec sleep 1000");
    ::kill(s.pid(), SIGKILL);
    EXPECT_EQ(s.next().what, kind::supervisor_died);
    EXPECT_EQ(s.next().what, kind::supervisor_died);
    EXPECT_TRUE(eventually([&] { return dead(s.command); }));
}

TEST_F(Supervisor, EndsTheCommandWhenItIsDestroyed) {
    std::optional<running> s;
    s.emplace(*this, "exec sleep 1000");
    const pid_t command = s->command;
    s.reset();
    EXPECT_TRUE(dead(command));
}

TEST_F(Supervisor, AllowsTheEndOfTheSessionsOfADeadLatchkeyOnceAllThatRanIsDead) {
    // It stands in for latchkey-guardian, and ends when nobody has a connection to it any more.
    folder_.write("guardian",
                  "#!/bin/sh\nexec 3<&0\n(/bin/cat <&3 >" + folder_.path().string() + "/told; : >" +
                      folder_.path().string() + "/ended) &\n");
    std::filesystem::permissions(folder_.path() / "guardian", std::filesystem::perms::owner_all);
    EXPECT_EQ(in_another_process([&] {
                  forbid_end_of_sessions((folder_.path() / "guardian").string());
                  running s(*this, family);
                  while (!(folder_.has_line("main") && folder_.has_line("stray"))) {
                      ::poll(nullptr, 0, 5);
                  }
                  EXPECT_EQ(folder_.content("told"), guardian_waits);
                  return ::raise(SIGKILL);
              }),
              128 + SIGKILL);
    ASSERT_TRUE(folder_.eventually_has("ended"));
    EXPECT_THAT(survivors(), IsEmpty());
    EXPECT_EQ(folder_.content("told"), std::string(guardian_waits) + std::string(guardian_may_act));
}

using SupervisedRun = supervisor_fixture;

TEST_F(SupervisedRun, ThatFailsReleasesWhenTheCommandIsDead) {
    bool released = false;
    const auto release = [&](void*) {
        released = true;
        EXPECT_TRUE(running_family(folder_).is_dead());
    };
    const auto fail_once_the_family_runs = [&] {
        if (folder_.has_line("stray") && folder_.has_line("main")) {
            throw std::bad_alloc();
        }
        return boottime_clock::now() + 1h;
    };
    run_options options;
    options.servers = "127.0.0.1:1";
    options.path = "/a";
    options.command = shell(family);
    // Without servers: it is acquired at once.
    const run_kind at_once{.acquire = [&](client&, const std::stop_token&, const place_listener&) {
        const std::shared_ptr<void> owner(nullptr, release);
        return held_resource{.valid = [] { return true; },
                             .valid_until = [&, owner] { return fail_once_the_family_runs(); },
                             .why_lost = [] { return loss_reason::none; },
                             .token = 42,
                             .nodes = {"/a/b"}};
    }};
    const status_output output(false, false);
    forget_credentials();
    EXPECT_THROW(static_cast<void>(supervised_run(options, at_once, output).execute()),
                 std::bad_alloc);
    EXPECT_TRUE(released);
}

}  // namespace

}  // namespace latchkey::test
