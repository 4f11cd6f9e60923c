#include <latchkey/barrier.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/semaphore.hpp>

#include "acting_fixture.hpp"
#include "terminal_program.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// break, revoke, resize, barrier, join and members.

namespace latchkey::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class BreakCommand : public acting_fixture {};

TEST_F(BreakCommand, DeletesTheZnodeAndSaysWhoseItWasAndWhy) {
    const auto victim = holding();
    const auto next = lock({}, {"--", "true"});
    ASSERT_TRUE(eventually_participants(2));
    const std::string node = holder();
    const auto p = run({"break", "--yes", path_, node, "--reason", "INC-4711\x1b[2J"});
    EXPECT_EQ(p->wait(), 0) << p->err();
    EXPECT_THAT(p->out(), StartsWith("deleted " + path_ + '/' + node + " of "));
    EXPECT_THAT(p->out(),
                AllOf(HasSubstr("(pid " + std::to_string(victim->pid()) + ", "),
                      HasSubstr(": INC-4711\\x1b[2J\n")));
    EXPECT_EQ(next->wait(), 0) << next->err();
    EXPECT_EQ(victim->wait(), 76);
}

TEST_F(BreakCommand, TakesThePathOfTheZnodeAndPrintsJson) {
    const auto victim = holding();
    const std::string node = path_ + '/' + holder();
    const auto p = run({"break", "--json", "--yes", "--reason", "old", "--", path_, node});
    EXPECT_EQ(p->wait(), 0) << p->err();
    const auto object = nlohmann::json::parse(p->out());
    EXPECT_EQ(object.at("deleted"), node);
    EXPECT_EQ(object.at("reason"), "old");
    EXPECT_THAT(object.at("session").get<std::string>(), StartsWith("0x"));
    EXPECT_EQ(victim->wait(), 76);
}

TEST_F(BreakCommand, LeavesEverythingElseAlone) {
    const auto victim = holding();
    view().transact({operation::create(path_ + "/notes")});
    const std::vector<std::pair<words, int>> refused{
        {{"--yes", "--reason", "x", path_, "no-such-node"}, 1},
        {{"--yes", "--reason", "x", path_, "notes"}, 65},
        {{"--yes", "--reason", "x", "/not/there", "node"}, 1},
        {{"--yes", path_, holder()}, 64},
        {{"--reason", "x", path_, holder()}, 64},
        {{"--yes", "--reason", std::string(513, 'x'), path_, holder()}, 64},
        {{"--yes", "--reason", "x", path_}, 64}};
    for (const auto& [arguments, status] : refused) {
        words all = arguments;
        all.insert(all.begin(), "break");
        const auto p = run(all);
        EXPECT_EQ(p->wait(), status) << testing::PrintToString(arguments) << p->err();
        EXPECT_EQ(p->out(), "");
        EXPECT_NE(p->err(), "");
    }
    EXPECT_TRUE(view().exists(path_ + "/notes"));
    EXPECT_EQ(participants(), 1U);
    EXPECT_TRUE(victim->running());
}

TEST_F(BreakCommand, AsksOnATerminal) {
    const auto victim = holding({"--id", "old host"});
    const words arguments{"break", "--reason", "x", path_, holder()};
    for (const auto& [answer, status] :
         std::vector<std::pair<std::string, int>>{{"n\n", 1}, {"\n", 1}, {"\x04", 1}, {"y\n", 0}}) {
        ASSERT_EQ(participants(), 1U) << "before the answer " << answer;
        terminal_program p(arguments, {{"LATCHKEY_SERVERS", servers_}});
        ASSERT_TRUE(eventually([&] {
            return p.screen().find("Break it? [y/N]") != std::string::npos;
        })) << p.screen();
        EXPECT_THAT(p.screen(), AllOf(HasSubstr(path_ + " is a mutex"), HasSubstr("old host, ")));
        p.type(answer);
        EXPECT_EQ(p.wait(), status) << answer << p.screen();
    }
    EXPECT_EQ(victim->wait(), 76);
}

class RevokeCommand : public acting_fixture {};

TEST_F(RevokeCommand, MakesLatchkeyEndItsCommand) {
    const auto p =
        lock_sh({}, "trap 'exit 9' TERM; echo $$ >$DIR/main; while :; do sleep 0.01; done");
    static_cast<void>(pid_in("main"));
    const auto asking = run({"revoke", path_});
    EXPECT_EQ(asking->wait(), 0) << asking->err();
    EXPECT_THAT(asking->out(), StartsWith("asked " + path_ + '/'));
    EXPECT_EQ(p->wait(), 9) << p->err();
    EXPECT_EQ(participants(), 0U);
    const auto nobody = run({"revoke", path_});
    EXPECT_EQ(nobody->wait(), 1);
    EXPECT_THAT(nobody->err(), HasSubstr("nothing holds " + path_));
}

TEST_F(RevokeCommand, MakesLatchkeyWithoutACommandReleaseTheLock) {
    const auto p = holding();
    EXPECT_EQ(run({"revoke", path_, "no-such-node"})->wait(), 1);
    EXPECT_TRUE(p->running());
    EXPECT_EQ(run({"revoke", path_, holder()})->wait(), 0);
    EXPECT_EQ(p->wait(), 0);
}

TEST_F(RevokeCommand, AsksEachReader) {
    const auto one = holding({"-s"});
    const auto two = holding({"-s"});
    const auto asking = run({"revoke", path_});
    EXPECT_EQ(asking->wait(), 0) << asking->err();
    EXPECT_EQ(one->wait(), 0);
    EXPECT_EQ(two->wait(), 0);
}

TEST_F(RevokeCommand, LeavesElectionsToResign) {
    leader_latch latch(view(), path_, {.id = "a"});
    latch.start();
    ASSERT_TRUE(eventually([&] { return latch.is_leader(); }));
    const auto p = run({"revoke", path_});
    EXPECT_EQ(p->wait(), 65);
    EXPECT_THAT(p->err(), HasSubstr("latchkey resign"));
}

class ResizeCommand : public acting_fixture {};

TEST_F(ResizeCommand, ChangesTheNumberOfPermits) {
    semaphore licenses(view(), path_, 2);
    const hold both = licenses.acquire(2);
    EXPECT_EQ(run({"resize", path_, "5"})->wait(), 0);
    EXPECT_EQ(semaphore(view(), path_).capacity(), 5U);
    EXPECT_EQ(lock({"-N", "3"}, {"--", "true"})->wait(), 0);
    EXPECT_EQ(run({"resize", path_, "1"})->wait(), 0);
    EXPECT_TRUE(both.valid());
    for (const char* const wrong : {"0", "-1", "many", "1000000001", ""}) {
        EXPECT_EQ(run({"resize", "--", path_, wrong})->wait(), 64) << wrong;
    }
    EXPECT_EQ(run({"resize", path_ + "-other", "5"})->wait(), 65);
    EXPECT_EQ(semaphore(view(), path_).capacity(), 1U);
}

class BarrierCommand : public acting_fixture {};

TEST_F(BarrierCommand, StopsThoseWhoWaitUntilItIsRemoved) {
    EXPECT_EQ(run({"barrier", "wait", path_})->wait(), 0) << "there is none";
    EXPECT_EQ(run({"barrier", "set", path_})->wait(), 0);
    EXPECT_EQ(run({"barrier", "set", path_})->wait(), 0) << "again";
    EXPECT_EQ(run({"barrier", "wait", path_, "--timeout", "0"})->wait(), 1);
    const auto waiting = run({"barrier", "wait", path_});
    const auto given_up = run({"barrier", "wait", "--verbose", path_});
    ASSERT_TRUE(eventually([&] { return given_up->err().find("connected") != std::string::npos; }));
    given_up->send(SIGTERM);
    EXPECT_EQ(given_up->wait(), 128 + SIGTERM);
    EXPECT_TRUE(waiting->running());
    EXPECT_EQ(run({"barrier", "remove", path_})->wait(), 0);
    EXPECT_EQ(waiting->wait(), 0);
    EXPECT_EQ(run({"barrier", "remove", path_})->wait(), 0) << "again";
}

TEST_F(BarrierCommand, RefusesWhatItCannotDo) {
    for (const words& wrong : {words{"open", path_},
                               words{path_},
                               words{"set"},
                               words{"set", path_, "x"},
                               words{"set", "--timeout", "1", path_},
                               words{"wait", "--timeout", "soon", path_}}) {
        words all = wrong;
        all.insert(all.begin(), "barrier");
        EXPECT_EQ(run(all)->wait(), 64) << testing::PrintToString(wrong);
    }
    EXPECT_FALSE(view().exists(path_));
}

class GroupCommands : public acting_fixture {
protected:
    std::vector<group_member> members() { return group(view(), path_).members(); }
};

TEST_F(GroupCommands, MemberIsThereWhileTheCommandRuns) {
    const auto p = run({"join",
                        "--data",
                        "host:8080",
                        path_,
                        "worker-1",
                        "--",
                        "/bin/sh",
                        "-c",
                        "echo $LATCHKEY_PATH $LATCHKEY_NODE ${LATCHKEY_TOKEN-none} >$DIR/env; "
                        "while ! [ -e $DIR/go ]; do sleep 0.01; done; exit 5"});
    ASSERT_TRUE(eventually([&] { return content_of(folder_ / "env").ends_with('\n'); }));
    EXPECT_EQ(content_of(folder_ / "env"), path_ + ' ' + path_ + "/worker-1 none\n");
    const auto second = run({"join", path_, "worker-2"});
    ASSERT_TRUE(eventually([&] { return !second->out().empty(); }));
    EXPECT_EQ(second->out(), path_ + ' ' + path_ + "/worker-2\n");
    const auto list = run({"members", path_});
    EXPECT_EQ(list->wait(), 0);
    EXPECT_EQ(list->out(), "worker-1\nworker-2\n");
    const auto json = run({"members", "--json", path_});
    EXPECT_EQ(json->wait(), 0);
    EXPECT_EQ(nlohmann::json::parse(json->out().substr(0, json->out().find('\n'))).at("data"),
              "host:8080");
    EXPECT_EQ(run({"join", "-w", "0", path_, "worker-2", "--", "true"})->wait(), 1) << "taken";
    std::ofstream(folder_ / "go").close();
    EXPECT_EQ(p->wait(), 5) << p->err();
    second->send(SIGTERM);
    EXPECT_EQ(second->wait(), 0);
    const auto none = run({"members", path_});
    EXPECT_EQ(none->wait(), 1);
    EXPECT_EQ(none->out(), "");
}

TEST_F(GroupCommands, FollowReportsEachChange) {
    group workers(view(), path_);
    const membership first = workers.join("first");
    const auto p = run({"members", "--follow", path_});
    const auto eventually_prints = [&](const std::string& text) {
        return eventually([&] { return p->out() == text; });
    };
    EXPECT_TRUE(eventually_prints("joined first\n")) << p->out();
    membership second = workers.join("second");
    EXPECT_TRUE(eventually_prints("joined first\njoined second\n")) << p->out();
    second.set_data("new");
    EXPECT_TRUE(eventually_prints("joined first\njoined second\nchanged second\n")) << p->out();
    second.leave();
    EXPECT_TRUE(eventually_prints("joined first\njoined second\nchanged second\nleft second\n"))
        << p->out();
    p->send(SIGINT);
    EXPECT_EQ(p->wait(), 0);
}

TEST_F(GroupCommands, RefuseWhatTheyCannotUse) {
    for (const words& wrong : {words{"join", path_},
                               words{"join", path_, "-c", "true"},
                               words{"join", path_, "a/b", "--", "true"},
                               words{"members"},
                               words{"members", path_, path_}}) {
        EXPECT_EQ(run(wrong)->wait(), 64) << testing::PrintToString(wrong);
    }
}

}  // namespace

}  // namespace latchkey::test
