#include <latchkey/barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/semaphore.hpp>

#include "acting_fixture.hpp"

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// break, revoke, resize, barrier, join and members.

namespace latchkey::test {

namespace {

class BreakCommand : public acting_fixture {};

TEST_F(BreakCommand, DeletesTheZnodeAndSaysWhoseItWasAndWhy) {
    const auto victim = holding("lock PATH");
    const auto next = run("lock PATH -- true");
    ASSERT_TRUE(eventually_participants(2));
    const std::string node = holder().name;
    EXPECT_THAT(out_of(run("break --yes PATH " + node + " --reason INC-4711\x1b[2J")),
                AllOf(StartsWith("deleted " + path_ + '/' + node + " of "),
                      HasSubstr("(pid " + std::to_string(victim->pid()) + ", "),
                      HasSubstr(": INC-4711\\x1b[2J\n")));
    EXPECT_EQ(next->wait(), 0) << next->err();
    EXPECT_EQ(victim->wait(), 76);
}

TEST_F(BreakCommand, TakesThePathOfTheZnodeAndPrintsJson) {
    const auto victim = holding("lock PATH");
    const std::string node = path_ + '/' + holder().name;
    const auto object = object_of(run("break --json --yes --reason old -- PATH " + node));
    EXPECT_EQ(object.at("deleted"), node);
    EXPECT_EQ(object.at("reason"), "old");
    EXPECT_THAT(object.at("session").get<std::string>(), StartsWith("0x"));
    EXPECT_EQ(victim->wait(), 76);
}

TEST_F(BreakCommand, LeavesEverythingElseAlone) {
    const auto victim = holding("lock PATH");
    view().transact({operation::create(path_ + "/notes")});
    const std::string node = holder().name;
    const std::map<std::string, int> refused{
        {"--yes --reason x PATH no-such-node", 1},
        {"--yes --reason x PATH notes", 65},
        {"--yes --reason x /not/there node", 1},
        {"--yes PATH " + node, 64},
        {"--reason x PATH " + node, 64},
        {"--yes --reason " + std::string(513, 'x') + " PATH " + node, 64}};
    for (const auto& [arguments, status] : refused) {
        SCOPED_TRACE(arguments);
        const auto p = run("break " + arguments);
        EXPECT_NE(err_of(p, status), "");
        EXPECT_EQ(p->out(), "");
    }
    EXPECT_TRUE(view().exists(path_ + "/notes"));
    EXPECT_EQ(participants(), 1U);
    EXPECT_TRUE(victim->running());
}

TEST_F(BreakCommand, AsksOnATerminal) {
    const auto victim = holding("lock --id old-host PATH");
    const std::string line = "break --reason x PATH " + holder().name;
    const std::vector<std::pair<std::string, int>> answers{
        {"n\n", 1}, {"\n", 1}, {"\x04", 1}, {"y\n", 0}};
    for (const auto& [answer, status] : answers) {
        ASSERT_EQ(participants(), 1U) << "before the answer " << answer;
        const auto p = run(line, {}, {.terminal = true});
        ASSERT_TRUE(eventually_prints(p, "Break it? [y/N]")) << p->out();
        EXPECT_THAT(p->out(), AllOf(HasSubstr(path_ + " is a mutex"), HasSubstr("old-host, ")));
        p->type(answer);
        EXPECT_EQ(p->wait(), status) << answer << p->out();
    }
    EXPECT_EQ(victim->wait(), 76);
}

class RevokeCommand : public acting_fixture {};

TEST_F(RevokeCommand, MakesLatchkeyEndItsCommand) {
    const auto p = run_sh("lock PATH", at_term("exit 9"));
    static_cast<void>(folder_.pid_in("main"));
    EXPECT_THAT(out_of(run("revoke PATH")), StartsWith("asked " + path_ + '/'));
    EXPECT_EQ(p->wait(), 9) << p->err();
    EXPECT_EQ(participants(), 0U);
    EXPECT_THAT(err_of(run("revoke PATH"), 1), HasSubstr("nothing holds " + path_));
}

TEST_F(RevokeCommand, MakesLatchkeyWithoutACommandReleaseTheLock) {
    const auto p = holding("lock PATH");
    EXPECT_EQ(run("revoke PATH no-such-node")->wait(), 1);
    EXPECT_TRUE(p->running());
    EXPECT_EQ(run("revoke PATH " + holder().name)->wait(), 0);
    EXPECT_EQ(p->wait(), 0);
}

TEST_F(RevokeCommand, AsksEachReader) {
    const auto one = holding("lock -s PATH");
    const auto two = holding("lock -s PATH");
    EXPECT_EQ(run("revoke PATH")->wait(), 0);
    EXPECT_EQ(one->wait(), 0);
    EXPECT_EQ(two->wait(), 0);
}

TEST_F(RevokeCommand, LeavesElectionsToResign) {
    leader_latch latch(view(), path_, {.id = "a"});
    static_cast<void>(latch.wait());
    EXPECT_THAT(err_of(run("revoke PATH"), 65), HasSubstr("latchkey resign"));
}

class ResizeCommand : public acting_fixture {};

TEST_F(ResizeCommand, ChangesTheNumberOfPermits) {
    semaphore licenses(view(), path_, 2);
    const hold both = licenses.acquire(2);
    EXPECT_EQ(run("resize PATH 5")->wait(), 0);
    EXPECT_EQ(semaphore(view(), path_).capacity(), 5U);
    EXPECT_EQ(run("lock -N 3 PATH -- true")->wait(), 0);
    EXPECT_EQ(run("resize PATH 1")->wait(), 0);
    EXPECT_TRUE(both.valid());
    EXPECT_EQ(run("resize PATH-other 5")->wait(), 65);
    EXPECT_EQ(semaphore(view(), path_).capacity(), 1U);
}

class BarrierCommand : public acting_fixture {};

TEST_F(BarrierCommand, StopsThoseWhoWaitUntilItIsRemoved) {
    EXPECT_EQ(run("barrier wait PATH")->wait(), 0) << "there is none";
    EXPECT_EQ(run("barrier set PATH")->wait(), 0);
    EXPECT_EQ(run("barrier set PATH")->wait(), 0) << "again";
    EXPECT_EQ(run("barrier wait PATH --timeout 0")->wait(), 1);
    const auto waiting = run("barrier wait PATH");
    const auto given_up = run("barrier wait --verbose PATH");
    ASSERT_TRUE(eventually_says(given_up, "connected"));
    EXPECT_EQ(status_after(SIGTERM, given_up), 128 + SIGTERM);
    EXPECT_TRUE(waiting->running());
    EXPECT_EQ(run("barrier remove PATH")->wait(), 0);
    EXPECT_EQ(waiting->wait(), 0);
    EXPECT_EQ(run("barrier remove PATH")->wait(), 0) << "again";
}

class GroupCommands : public acting_fixture {};

TEST_F(GroupCommands, MemberIsThereWhileTheCommandRuns) {
    const auto p = run_sh("join --data host:8080 PATH worker-1",
                          "echo $LATCHKEY_PATH $LATCHKEY_NODE ${LATCHKEY_TOKEN-none} >$DIR/env; "
                          "while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 5",
                          {.environment = {{"LATCHKEY_TOKEN", "of a lock around it"}}});
    ASSERT_TRUE(eventually([&] { return folder_.has_line("env"); }));
    EXPECT_EQ(folder_.content("env"), path_ + ' ' + path_ + "/worker-1 none\n");
    const auto second = holding("join PATH worker-2");
    EXPECT_EQ(second->out(), path_ + ' ' + path_ + "/worker-2\n");
    EXPECT_EQ(out_of(run("members PATH")), "worker-1\nworker-2\n");
    EXPECT_EQ(objects_of(run("members --json PATH"))[0].at("data"), "host:8080");
    EXPECT_EQ(run("join -w 0 PATH worker-2 -- true")->wait(), 1) << "taken";
    folder_.write("go");
    EXPECT_EQ(p->wait(), 5) << p->err();
    EXPECT_EQ(status_after(SIGTERM, second), 0);
    EXPECT_EQ(out_of(run("members PATH"), 1), "");
}

TEST_F(GroupCommands, FollowReportsEachChange) {
    group workers(view(), path_);
    const membership first = workers.join("first");
    const auto p = run("members --follow PATH");
    std::string printed;
    const auto eventually_adds = [&](const std::string& line) {
        printed += line;
        return eventually([&] { return p->out() == printed; });
    };
    EXPECT_TRUE(eventually_adds("joined first\n")) << p->out();
    membership second = workers.join("second");
    EXPECT_TRUE(eventually_adds("joined second\n")) << p->out();
    second.set_data("new");
    EXPECT_TRUE(eventually_adds("changed second\n")) << p->out();
    second.leave();
    EXPECT_TRUE(eventually_adds("left second\n")) << p->out();
    EXPECT_EQ(status_after(SIGINT, p), 0);
}

}  // namespace

}  // namespace latchkey::test
