#include "acting_fixture.hpp"
#include "ensemble/wire/wire_answer.hpp"
#include "too_slow.hpp"

#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// --max-hold, --min-hold, --once-per, --on-lost, --id, --data, -q, the line on a terminal, and what
// a killed latchkey leaves behind. The servers grant session timeouts of a minute or more.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;

class HoldOptions : public acting_fixture {
protected:
    /// A latchkey whose command has ended, and which keeps the lock.
    running_program keeping() const {
        auto p = run_sh("lock --verbose --min-hold 99999999999 PATH", "exit 3");
        EXPECT_TRUE(eventually_says(p, "keeping the lock")) << p->err();
        return p;
    }

    void break_hold_of_the_lock() {
        const auto p = run("break --yes --reason test PATH " + holder().name);
        EXPECT_EQ(p->wait(), 0) << p->err();
    }
};

TEST_F(HoldOptions, MaxHoldEndsTheCommandWithTermAndKill) {
    const auto begin = std::chrono::steady_clock::now();
    const time_window before_term(3s);
    const auto p = run_sh("lock --max-hold 6 PATH", at_term("echo >$DIR/term"));
    const pid_t main = folder_.pid_in("main");
    if (before_term.is_over()) {
        GTEST_SKIP() << too_slow << "the command may have begun when its time was over";
    }
    EXPECT_THAT(err_of(p, 124), AllOf(HasSubstr("limit of --max-hold"), Not(HasSubstr("lost"))));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 4s) << "the grace is two seconds";
    EXPECT_TRUE(folder_.has("term"));
    EXPECT_TRUE(dead(main));
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MaxHoldEndsAHoldWithoutCommand) {
    EXPECT_NE(out_of(run("lock --max-hold 0.3 PATH"), 124), "") << "it was held before";
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MaxHoldDoesNotConcernACommandThatEndsInTime) {
    for (const std::string most : {"600", "99999999999"}) {
        EXPECT_EQ(run_sh("lock --max-hold " + most + " PATH", "exit 4")->wait(), 4) << most;
    }
}

TEST_F(HoldOptions, MaxHoldEndsATermAndTheNextOneFollows) {
    const auto p = run_sh("elect --max-hold 1 PATH", "echo >>$DIR/terms; exec sleep 1000");
    EXPECT_TRUE(eventually([&] { return folder_.content("terms").size() >= 2; })) << p->err();
    const auto once = run("elect --once --max-hold 1 PATH -- sleep 1000");
    EXPECT_EQ(once->wait(), 124) << once->err();
}

TEST_F(HoldOptions, MinHoldKeepsTheLockAfterTheCommand) {
    const auto begin = std::chrono::steady_clock::now();
    const auto p = run_sh("lock --min-hold 1.5 PATH", "echo $$ >$DIR/main; exit 3");
    const pid_t main = folder_.pid_in("main");
    ASSERT_TRUE(eventually([&] { return dead(main); }));
    EXPECT_EQ(p->wait(), 3) << p->err();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 1500ms);
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MinHoldEndsWithASignalOrARevocation) {
    for (const bool by_signal : {true, false}) {
        const auto p = keeping();
        EXPECT_EQ(participants(), 1U);
        EXPECT_EQ(run("lock -n PATH -- true")->wait(), 1);
        if (by_signal) {
            p->send(SIGTERM);
        } else {
            EXPECT_EQ(run("revoke PATH")->wait(), 0);
        }
        EXPECT_EQ(p->wait(), 3) << by_signal;
        EXPECT_EQ(participants(), 0U);
    }
}

TEST_F(HoldOptions, MinHoldThatIsLostIsALoss) {
    const auto p = keeping();
    break_hold_of_the_lock();
    EXPECT_EQ(p->wait(), 76) << p->err();
}

TEST_F(HoldOptions, LockDelayFollowsADeathAndNoRelease) {
    EXPECT_EQ(run_sh("lock --lock-delay 1000 PATH", "exit 3")->wait(), 3);
    EXPECT_EQ(run("lock -n PATH -- true")->wait(), 0) << "it was released";
    const auto p = run_sh("lock --lock-delay 1000 PATH", "echo $$ >$DIR/main; sleep 1000");
    static_cast<void>(folder_.pid_in("main"));
    const std::string node = path_ + '/' + holder().name;
    p->send(SIGKILL);
    ASSERT_TRUE(eventually([&] { return !view().exists(node); }));
    EXPECT_EQ(run("lock -n PATH -- true")->wait(), 1) << "it is taken still";
}

TEST_F(HoldOptions, OncePerRunsTheCommandAgainOnlyAfterTheTime) {
    const std::string count = "echo >>$DIR/runs";
    const auto runs = [&] { return folder_.content("runs").size(); };
    EXPECT_EQ(run_sh("lock --once-per 1000 PATH", count + "; exit 2")->wait(), 2);
    EXPECT_EQ(run_sh("lock --once-per 1000 PATH", count)->wait(), 0);
    EXPECT_EQ(runs(), 2U) << "a failure does not count";
    EXPECT_EQ(err_of(run_sh("lock --once-per 1000 PATH", count), 0), "");
    EXPECT_THAT(err_of(run_sh("lock --verbose -E 9 --once-per 1000 PATH", count), 9),
                HasSubstr("not run again"))
        << "it asks for a status of its own";
    EXPECT_EQ(runs(), 2U);
    // Much longer ago than a millisecond, though looks have written to the znode since.
    EXPECT_EQ(run_sh("lock --once-per 0.001 PATH", count)->wait(), 0);
    EXPECT_EQ(runs(), 3U);
    EXPECT_EQ(run_sh("lock PATH", count)->wait(), 0);
    EXPECT_EQ(runs(), 4U) << "without the option it always runs";
    EXPECT_TRUE(view().exists(path_ + ".last-success"));
}

TEST_F(HoldOptions, OncePerHoldsForTheLeaderOfOneTerm) {
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(err_of(run_sh("elect --once --once-per 1000 PATH", "echo >>$DIR/runs"), 0), "");
        EXPECT_EQ(folder_.content("runs").size(), 1U);
    }
}

TEST_F(HoldOptions, OnLostRunsBesideTheEndOfTheCommand) {
    const words on_lost{
        "--on-lost", "echo \"$LATCHKEY_PATH $LATCHKEY_TOKEN $LATCHKEY_REASON\" >$DIR/lost", path_};
    const auto p = run("lock --max-hold 600",
                       joined(on_lost, {"-c", "echo $LATCHKEY_TOKEN >$DIR/token; sleep 1000"}));
    ASSERT_TRUE(eventually([&] { return folder_.has_line("token"); }));
    break_hold_of_the_lock();
    EXPECT_EQ(p->wait(), 76);
    EXPECT_EQ(words_of(folder_.content("lost")),
              (words{path_, words_of(folder_.content("token"))[0], "znode_deleted"}));
}

TEST_F(HoldOptions, OnLostDoesNotRunWithoutALoss) {
    const words on_lost{"--on-lost", "touch $DIR/lost", path_, "--"};
    EXPECT_EQ(run("lock --max-hold 600", joined(on_lost, {"true"}))->wait(), 0);
    EXPECT_EQ(run("lock --max-hold 0.5", joined(on_lost, {"sleep", "1000"}))->wait(), 124);
    EXPECT_FALSE(folder_.has("lost"));
}

TEST_F(HoldOptions, IdAndDataAreInTheRecordOfTheParticipant) {
    const auto p = holding("lock --id", {"nightly \"backup\"", "--data", "see wiki", path_});
    const auto who = holder();
    ASSERT_TRUE(who.identified.has_value());
    EXPECT_EQ(who.identified->pid, p->pid());
    EXPECT_EQ(who.identified->mode, "exclusive");
    EXPECT_EQ(object_of(run("who PATH --json"))["participants"][0]["id"], "nightly \"backup\"");
    EXPECT_THAT(who.data, AllOf(HasSubstr("nightly \\\"backup\\\""), HasSubstr("see wiki")));
}

class WaitingLine : public acting_fixture {
protected:
    running_program run_on_terminal(const std::string& line) const {
        return run(line, {}, {.terminal = true});
    }
};

TEST_F(WaitingLine, SaysWhoIsAheadAndIsErasedInTheEnd) {
    const auto first = holding("lock --id first\x1b PATH");
    const auto second = run("lock --id second PATH -- true");
    ASSERT_TRUE(eventually_participants(2));
    const auto p = run_on_terminal("lock PATH -- echo granted");
    const std::string waiting = "waiting for " + path_ + ": 3rd in line behind second, ";
    EXPECT_TRUE(eventually_prints(p, waiting)) << p->out();
    EXPECT_TRUE(eventually_prints(p, " ... 00:")) << p->out();
    EXPECT_EQ(status_after(SIGTERM, second), 128 + SIGTERM);
    EXPECT_TRUE(eventually_prints(p, ": 2nd in line behind first\\x1b, ")) << p->out();
    first->send(SIGTERM);
    EXPECT_THAT(out_of(p), HasSubstr("\r\x1b[Kgranted"));
}

TEST_F(WaitingLine, NamesTheLeaderOfAnElection) {
    const auto leader = holding("elect --id", {"the leader", path_});
    const auto p = run_on_terminal("elect --id other PATH -- true");
    EXPECT_TRUE(eventually_prints(p, "waiting for " + path_ + ": behind the leader (")) << p->out();
    EXPECT_EQ(status_after(SIGTERM, p), 128 + SIGTERM);
}

TEST_F(WaitingLine, IsForPeopleAlone) {
    const auto first = holding("lock PATH");
    const auto shown = run_on_terminal("lock PATH");
    const auto quiet = run_on_terminal("lock -q PATH");
    const auto json = run_on_terminal("lock --json PATH");
    const auto file = run("lock PATH");
    ASSERT_TRUE(eventually_participants(5));
    ASSERT_TRUE(eventually_prints(shown, " in line behind ")) << "the others wait as long";
    EXPECT_EQ(quiet->out() + json->out() + file->err(), "");
}

class KilledLatchkey : public acting_fixture {};

TEST_F(KilledLatchkey, LeavesTheLockFreeWhenItsCommandIsDead) {
    const auto holder = run_sh("lock PATH", family);
    const running_family processes(folder_);
    const auto next = run_sh("lock PATH", fails_beside_the_family);
    ASSERT_TRUE(eventually_participants(2));
    EXPECT_EQ(status_after(SIGKILL, holder), 137);
    EXPECT_EQ(next->wait(30s), 0) << "the session timeout is a minute: " << next->err();
    EXPECT_TRUE(processes.is_dead());
}

TEST_F(KilledLatchkey, ShowsTheSessionsPasswordToNoOtherProcess) {
    const auto p = run_sh("lock PATH",
                          "cat /proc/$PPID/environ /proc/$PPID/cmdline /proc/$$/environ "
                          ">$DIR/seen; echo $$ >$DIR/main; exec sleep 1000");
    static_cast<void>(folder_.pid_in("main"));
    const auto password = model::session_password(holder().session_id);
    EXPECT_THAT(folder_.content("seen"),
                AllOf(HasSubstr("LATCHKEY_TOKEN="), Not(HasSubstr(password))));
}

TEST_F(KilledLatchkey, LeavesTheQueueToo) {
    const auto first = holding("lock PATH");
    const auto second = run("lock --verbose PATH -- true");
    ASSERT_TRUE(eventually_says(second, "waiting behind 1"));
    ASSERT_EQ(participants(), 2U);
    second->send(SIGKILL);
    EXPECT_TRUE(eventually_participants(1)) << "the session timeout is a minute";
    EXPECT_TRUE(first->running());
}

TEST_F(KilledLatchkey, LeavesItsGroup) {
    const auto p = run_sh("join PATH member", family);
    const pid_t main = folder_.pid_in("main");
    p->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main) && !view().exists(path_ + "/member"); }));
}

}  // namespace

}  // namespace latchkey::test
