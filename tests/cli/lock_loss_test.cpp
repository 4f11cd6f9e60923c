#include <latchkey/inspect.hpp>

#include "command_fixture.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

// The lock is lost while the servers are available; and --audit and --metrics-file, which report
// grants, releases and losses.

namespace latchkey::test {

namespace {

class LockLoss : public command_fixture {
protected:
    /// Another client deletes the holder's znode.
    void break_lock() { remove_znode(path_ + '/' + holder().name); }
};

TEST_F(LockLoss, ByADeletedZnodeKillsTheCommandAndAllItStarted) {
    const auto p = run_sh("lock PATH", family);
    const running_family processes(folder_);
    EXPECT_NE(::getpgid(processes.stray), ::getpgid(processes.main));
    EXPECT_FALSE(dead(processes.stray));
    break_lock();
    EXPECT_THAT(err_of(p, 76), HasSubstr(path_ + " lost"));
    EXPECT_TRUE(processes.is_dead());
}

TEST_F(LockLoss, IsTheEndAlsoIfNobodyReadsStderr) {
    const auto p = run("lock --verbose PATH",
                       {"--", "/bin/sh", "-c", "echo $$ >$DIR/main; exec sleep 1000"},
                       {.stalled = {2}});
    const pid_t main = folder_.pid_in("main");
    break_lock();
    EXPECT_EQ(p->wait(), 76);
    EXPECT_TRUE(dead(main));
}

TEST_F(LockLoss, IsReportedEvenWhenTheCommandWouldHaveSucceeded) {
    const auto p = run_sh("lock PATH", at_term("exit 0"));
    static_cast<void>(folder_.pid_in("main"));
    break_lock();
    EXPECT_EQ(p->wait(), 76);
}

TEST_F(LockLoss, ByKillingLatchkeyKillsTheCommandBeforeTheNextHolderRuns) {
    const auto holder = run_sh("lock -t 4 PATH", family);
    const running_family processes(folder_);
    const auto next = run_sh("lock -t 4 PATH", fails_beside_the_family);
    ASSERT_TRUE(eventually_participants(2));
    EXPECT_EQ(status_after(SIGKILL, holder), 137);
    EXPECT_TRUE(eventually([&] { return processes.is_dead(); }));
    EXPECT_EQ(next->wait(), 0) << next->err();
}

TEST_F(LockLoss, ByStoppingLatchkeyKillsTheCommandBeforeTheNextHolderRuns) {
    const auto holder = run_sh("lock -t 4 PATH", family);
    const running_family processes(folder_);
    const auto next = run_sh("lock -t 4 PATH", "touch $DIR/next; exec sleep 1000");
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return folder_.has("next") || processes.is_dead(); }));
    EXPECT_TRUE(processes.is_dead()) << "the next holder runs already";
    ASSERT_TRUE(folder_.eventually_has("next"));
    EXPECT_TRUE(stopped(holder->pid()));
    holder->send(SIGCONT);
    EXPECT_THAT(err_of(holder, 76), HasSubstr(path_));
    EXPECT_EQ(participants(), 1U);
}

TEST_F(LockLoss, OfAHoldThatNobodyReadsOfIsReported) {
    const auto p = run("lock --verbose PATH", {}, {.stalled = {1}});
    ASSERT_TRUE(eventually_says(p, "acquired"));
    break_lock();
    EXPECT_THAT(err_of(p, 76), HasSubstr(path_ + " lost"));
}

TEST_F(LockLoss, OfAHoldWithoutCommandIsReportedAfterAStop) {
    const auto holder = holding("lock -t 4 PATH");
    const auto next = run("lock -t 4 PATH");
    ASSERT_TRUE(eventually_participants(2));
    holder->send(SIGSTOP);
    ASSERT_TRUE(eventually_prints(next, path_));
    EXPECT_EQ(status_after(SIGCONT, holder), 76);
}

TEST_F(LockLoss, BySupervisorsDeathNeverLooksLikeSuccess) {
    const auto p =
        run_sh("lock PATH", "echo $PPID >$DIR/supervisor; echo $$ >$DIR/main; exec sleep 1000");
    const pid_t main = folder_.pid_in("main");
    ::kill(folder_.pid_in("supervisor"), SIGKILL);
    EXPECT_EQ(p->wait(), 71);
    EXPECT_TRUE(dead(main));
    EXPECT_EQ(participants(), 0U);
}

class EventOutputs : public command_fixture {
protected:
    [[nodiscard]] std::vector<nlohmann::json> audit() const {
        std::vector<nlohmann::json> lines;
        for (const std::string& line : lines_of(folder_.content("audit"))) {
            lines.push_back(nlohmann::json::parse(line));
        }
        return lines;
    }

    const std::string audited_ = "lock --audit " + (folder_ / "audit") + " PATH";
};

TEST_F(EventOutputs, AuditHasALineForEachGrantAndRelease) {
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(run(audited_ + " -- true")->wait(), 0);
    }
    const auto lines = audit();
    ASSERT_THAT(lines, SizeIs(4)) << folder_.content("audit");
    words events;
    for (const auto& line : lines) {
        events.push_back(line["event"]);
        EXPECT_EQ(line["path"], path_);
        EXPECT_THAT(line["node"].get<std::string>(), HasSubstr(path_ + "/"));
        EXPECT_EQ(line["mode"], "exclusive");
        EXPECT_THAT(line["time"].get<std::string>(),
                    ::testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
        EXPECT_THAT(line["session"].get<std::string>(), StartsWith("0x"));
    }
    EXPECT_THAT(events, ElementsAre("acquired", "released", "acquired", "released"));
    EXPECT_EQ(lines[0]["token"], lines[1]["token"]);
    EXPECT_LT(std::stoll(lines[1]["token"].get<std::string>()),
              std::stoll(lines[2]["token"].get<std::string>()));

    struct stat about {};

    ASSERT_EQ(::stat((folder_ / "audit").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & S_IRWXO, 0U) << "others may not read who holds what";
}

TEST_F(EventOutputs, AuditTellsOfALossWhichEndsAHoldWithoutCommand) {
    const auto p = run(audited_);
    ASSERT_TRUE(eventually([&] { return audit().size() == 1; })) << p->err();
    ASSERT_TRUE(break_hold(view(), holder(), "a test"));
    EXPECT_THAT(err_of(p, 76), HasSubstr(path_ + " lost"));
    const auto lines = audit();
    ASSERT_THAT(lines, SizeIs(2));
    EXPECT_EQ(lines[1]["event"], "lost");
    EXPECT_EQ(lines[1]["why"], "znode_deleted");
}

TEST_F(EventOutputs, MetricsAreAWholeFileAtAnyTime) {
    const auto text = [this] { return folder_.content("lock.prom"); };
    const auto p = run("lock --metrics-file " + (folder_ / "lock.prom") + " PATH");
    ASSERT_TRUE(eventually([&] {
        return text().find("latchkey_held{client=\"latchkey\"} 1\n") != std::string::npos;
    })) << p->err();
    status_after(SIGTERM, p);
    EXPECT_THAT(text(),
                AllOf(HasSubstr("latchkey_held{client=\"latchkey\"} 0\n"),
                      HasSubstr("latchkey_hold_seconds_count{lock=\"" + path_ +
                                "\",mode=\"exclusive\"} 1\n")));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

}  // namespace

}  // namespace latchkey::test
