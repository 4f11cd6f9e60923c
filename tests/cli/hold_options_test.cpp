#include "acting_fixture.hpp"
#include "ensemble/wire/wire_answer.hpp"
#include "terminal_program.hpp"
#include "too_slow.hpp"

#include <chrono>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// --max-hold, --min-hold, --once-per, --on-lost, --id, --data, -q, the line on a terminal, and what
// a killed latchkey leaves behind. The servers grant session timeouts of a minute or more.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class HoldOptions : public acting_fixture {};

TEST_F(HoldOptions, MaxHoldEndsTheCommandWithTermAndKill) {
    const auto begin = std::chrono::steady_clock::now();
    const time_window before_term(3s);
    const auto p = lock_sh({"--max-hold", "6"},
                           "trap 'echo >$DIR/term' TERM; echo $$ >$DIR/main; "
                           "while :; do sleep 0.01; done");
    const pid_t main = pid_in("main");
    if (before_term.is_over()) {
        GTEST_SKIP() << too_slow << "the command may have begun when its time was over";
    }
    EXPECT_EQ(p->wait(), 124) << p->err();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 4s) << "the grace is two seconds";
    EXPECT_TRUE(exists("term"));
    EXPECT_TRUE(dead(main));
    EXPECT_THAT(p->err(), HasSubstr("limit of --max-hold"));
    EXPECT_THAT(p->err(), Not(HasSubstr("lost")));
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MaxHoldEndsAHoldWithoutCommand) {
    const auto p = lock({"--max-hold", "0.3"});
    EXPECT_EQ(p->wait(), 124);
    EXPECT_NE(p->out(), "") << "it was held before";
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MaxHoldDoesNotConcernACommandThatEndsInTime) {
    EXPECT_EQ(lock_sh({"--max-hold", "600"}, "exit 4")->wait(), 4);
}

TEST_F(HoldOptions, MaxHoldEndsATermAndTheNextOneFollows) {
    const auto p =
        start("elect",
              {"--max-hold", "1"},
              {"--", "/bin/sh", "-c", "echo $LATCHKEY_TOKEN >>$DIR/terms; exec sleep 1000"},
              {});
    EXPECT_TRUE(eventually([&] {
        const auto terms = content_of(folder_ / "terms");
        return terms.find('\n') != terms.rfind('\n');
    })) << p->err();
    const auto once = start("elect", {"--once", "--max-hold", "1"}, {"--", "sleep", "1000"}, {});
    EXPECT_EQ(once->wait(), 124) << once->err();
}

TEST_F(HoldOptions, MinHoldKeepsTheLockAfterTheCommand) {
    const auto begin = std::chrono::steady_clock::now();
    const auto p = lock_sh({"--min-hold", "1.5"}, "echo $$ >$DIR/main; exit 3");
    const pid_t main = pid_in("main");
    ASSERT_TRUE(eventually([&] { return dead(main); }));
    EXPECT_EQ(p->wait(), 3) << p->err();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 1500ms);
    EXPECT_EQ(participants(), 0U);
}

TEST_F(HoldOptions, MinHoldEndsWithASignalOrARevocation) {
    for (const bool by_signal : {true, false}) {
        const auto p = lock_sh({"--verbose", "--min-hold", "1000"}, "exit 3");
        ASSERT_TRUE(eventually([&] {
            return p->err().find("keeping the lock") != std::string::npos;
        })) << p->err();
        EXPECT_EQ(participants(), 1U);
        EXPECT_EQ(lock({"-n"}, {"--", "true"})->wait(), 1);
        if (by_signal) {
            p->send(SIGTERM);
        } else {
            EXPECT_EQ(run({"revoke", path_})->wait(), 0);
        }
        EXPECT_EQ(p->wait(), 3) << by_signal;
        EXPECT_EQ(participants(), 0U);
    }
}

TEST_F(HoldOptions, MinHoldThatIsLostIsALoss) {
    const auto p = lock_sh({"--verbose", "--min-hold", "1000"}, "exit 0");
    ASSERT_TRUE(eventually([&] { return p->err().find("keeping the lock") != std::string::npos; }));
    EXPECT_EQ(run({"break", "--yes", "--reason", "test", path_, holder()})->wait(), 0);
    EXPECT_EQ(p->wait(), 76) << p->err();
}

TEST_F(HoldOptions, LockDelayFollowsADeathAndNoRelease) {
    EXPECT_EQ(lock_sh({"--lock-delay", "1000"}, "exit 3")->wait(), 3);
    EXPECT_EQ(lock_sh({"-n"}, "exit 0")->wait(), 0) << "it was released";
    const auto p = lock_sh({"--lock-delay", "1000"}, "echo $LATCHKEY_NODE >$DIR/node; sleep 1000");
    ASSERT_TRUE(eventually([&] { return content_of(folder_ / "node").ends_with('\n'); }));
    std::string node = content_of(folder_ / "node");
    node.pop_back();
    p->send(SIGKILL);
    ASSERT_TRUE(eventually([&] { return !view().exists(node); }));
    EXPECT_EQ(lock_sh({"-n"}, "exit 0")->wait(), 1) << "it is taken still";
}

TEST_F(HoldOptions, OncePerRunsTheCommandAgainOnlyAfterTheTime) {
    const auto count = "echo >>$DIR/runs";
    const auto runs = [&] { return content_of(folder_ / "runs").size(); };
    EXPECT_EQ(lock_sh({"--once-per", "1000"}, std::string(count) + "; exit 2")->wait(), 2);
    EXPECT_EQ(lock_sh({"--once-per", "1000"}, count)->wait(), 0);
    EXPECT_EQ(runs(), 2U) << "a failure does not count";
    const auto silent = lock_sh({"--once-per", "1000"}, count);
    EXPECT_EQ(silent->wait(), 0);
    EXPECT_EQ(silent->err(), "");
    const auto verbose = lock_sh({"--verbose", "-E", "9", "--once-per", "1000"}, count);
    EXPECT_EQ(verbose->wait(), 9) << "it asks for a status of its own";
    EXPECT_THAT(verbose->err(), HasSubstr("not run again"));
    EXPECT_EQ(runs(), 2U);
    // Much longer ago than a millisecond, though looks have written to the znode since.
    EXPECT_EQ(lock_sh({"--once-per", "0.001"}, count)->wait(), 0);
    EXPECT_EQ(runs(), 3U);
    EXPECT_EQ(lock_sh({}, count)->wait(), 0);
    EXPECT_EQ(runs(), 4U) << "without the option it always runs";
    EXPECT_TRUE(view().exists(path_ + ".last-success"));
}

TEST_F(HoldOptions, OncePerHoldsForTheLeaderOfOneTerm) {
    for (const unsigned expected : {1U, 1U}) {
        const auto p = start("elect",
                             {"--once", "--once-per", "1000"},
                             {"--", "/bin/sh", "-c", "echo >>$DIR/runs"},
                             {});
        EXPECT_EQ(p->wait(), 0) << p->err();
        EXPECT_EQ(content_of(folder_ / "runs").size(), expected);
    }
}

TEST_F(HoldOptions, OnLostRunsBesideTheEndOfTheCommand) {
    const auto script = "echo \"$LATCHKEY_PATH $LATCHKEY_TOKEN $LATCHKEY_REASON\" >$DIR/lost";
    const auto p =
        lock_sh({"--on-lost", script}, "echo $LATCHKEY_TOKEN >$DIR/token; exec sleep 1000");
    ASSERT_TRUE(eventually([&] { return content_of(folder_ / "token").ends_with('\n'); }));
    EXPECT_EQ(run({"break", "--yes", "--reason", "test", path_, holder()})->wait(), 0);
    EXPECT_EQ(p->wait(), 76);
    EXPECT_EQ(
        content_of(folder_ / "lost"),
        path_ + ' ' +
            content_of(folder_ / "token").substr(0, content_of(folder_ / "token").size() - 1) +
            " znode_deleted\n");
}

TEST_F(HoldOptions, OnLostDoesNotRunWithoutALoss) {
    EXPECT_EQ(lock_sh({"--on-lost", "touch $DIR/lost"}, "exit 0")->wait(), 0);
    EXPECT_EQ(
        lock_sh({"--on-lost", "touch $DIR/lost", "--max-hold", "0.5"}, "exec sleep 1000")->wait(),
        124);
    EXPECT_FALSE(exists("lost"));
}

TEST_F(HoldOptions, IdAndDataAreInTheRecordOfTheParticipant) {
    const auto p = holding({"--id", "nightly \"backup\"", "--data", "see wiki"});
    const auto who = queue().holder().value();
    ASSERT_TRUE(who.identified.has_value());
    EXPECT_EQ(who.identified->pid, p->pid());
    EXPECT_EQ(who.identified->mode, "exclusive");
    EXPECT_THAT(who.data, AllOf(HasSubstr("nightly \\\"backup\\\""), HasSubstr("see wiki")));
}

class WaitingLine : public acting_fixture {
protected:
    static bool eventually_shows(const terminal_program& p, const std::string& text) {
        return eventually([&] { return p.screen().find(text) != std::string::npos; });
    }

    [[nodiscard]] std::map<std::string, std::string> environment() const {
        return {{"LATCHKEY_SERVERS", servers_}, {"DIR", folder_.string()}};
    }
};

TEST_F(WaitingLine, SaysWhoIsAheadAndIsErasedInTheEnd) {
    const auto first = holding({"--id", "first\x1b"});
    const auto second = lock({"--id", "second"}, {"--", "true"});
    ASSERT_TRUE(eventually_participants(2));
    terminal_program p({"lock", path_, "--", "echo", "granted"}, environment());
    EXPECT_TRUE(eventually_shows(p, "waiting for " + path_ + ": 3rd in line behind second, "))
        << p.screen();
    EXPECT_TRUE(eventually_shows(p, " ... 00:")) << p.screen();
    ::kill(second->pid(), SIGTERM);
    EXPECT_EQ(second->wait(), 128 + SIGTERM);
    EXPECT_TRUE(eventually_shows(p, ": 2nd in line behind first\\x1b, ")) << p.screen();
    first->send(SIGTERM);
    EXPECT_EQ(p.wait(), 0);
    EXPECT_THAT(p.screen(), HasSubstr("\r\x1b[Kgranted"));
}

TEST_F(WaitingLine, NamesTheLeaderOfAnElection) {
    const auto leader = start("elect", {"--id", "the leader"}, {}, {});
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); }));
    terminal_program p({"elect", "--id", "other", path_, "--", "true"}, environment());
    EXPECT_TRUE(eventually_shows(p, "waiting for " + path_ + ": behind the leader ("))
        << p.screen();
    p.send(SIGTERM);
    EXPECT_EQ(p.wait(), 128 + SIGTERM);
}

TEST_F(WaitingLine, IsForPeopleAlone) {
    const auto first = holding();
    const auto shown = std::make_unique<terminal_program>(words{"lock", path_}, environment());
    terminal_program quiet({"lock", "-q", path_}, environment());
    terminal_program json({"lock", "--json", path_}, environment());
    const auto file = lock({});
    ASSERT_TRUE(eventually_participants(5));
    ASSERT_TRUE(eventually_shows(*shown, " in line behind ")) << "the others wait as long";
    EXPECT_EQ(quiet.screen() + json.screen() + file->err(), "");
}

class KilledLatchkey : public acting_fixture {};

TEST_F(KilledLatchkey, LeavesTheLockFreeWhenItsCommandIsDead) {
    const auto holder = lock_sh({}, family);
    const pid_t main = pid_in("main");
    const pid_t stray = pid_in("stray");
    const auto next = lock_sh({},
                              "kill -0 $(cat $DIR/main) 2>/dev/null && exit 1; "
                              "kill -0 $(cat $DIR/stray) 2>/dev/null && exit 2; exit 0");
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGKILL);
    EXPECT_EQ(holder->wait(), 137);
    EXPECT_EQ(next->wait(30s), 0) << "the session timeout is a minute: " << next->err();
    EXPECT_TRUE(dead(main) && dead(stray));
}

TEST_F(KilledLatchkey, ShowsTheSessionsPasswordToNoOtherProcess) {
    const auto p = lock_sh({},
                           "cat /proc/$PPID/environ /proc/$PPID/cmdline /proc/$$/environ "
                           ">$DIR/seen; echo $$ >$DIR/main; exec sleep 1000");
    static_cast<void>(pid_in("main"));
    const auto password = model::session_password(queue().holder().value().session_id);
    EXPECT_THAT(content_of(folder_ / "seen"), HasSubstr("LATCHKEY_TOKEN="));
    EXPECT_THAT(content_of(folder_ / "seen"), Not(HasSubstr(password)));
}

TEST_F(KilledLatchkey, LeavesTheQueueToo) {
    const auto first = holding();
    const auto second = lock({"--verbose"}, {"--", "true"});
    ASSERT_TRUE(
        eventually([&] { return second->err().find("waiting behind 1") != std::string::npos; }));
    ASSERT_EQ(participants(), 2U);
    second->send(SIGKILL);
    EXPECT_TRUE(eventually_participants(1)) << "the session timeout is a minute";
    EXPECT_TRUE(first->running());
}

TEST_F(KilledLatchkey, LeavesItsGroup) {
    const auto p = run({"join", path_, "member", "--", "/bin/sh", "-c", family});
    const pid_t main = pid_in("main");
    p->send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return dead(main) && !view().exists(path_ + "/member"); }));
}

}  // namespace

}  // namespace latchkey::test
