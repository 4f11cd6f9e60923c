#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"

#include <stop_token>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

// who, leader and tree, and what is the same of all commands that look.

namespace latchkey::test {
namespace {

class SeeingCommands : public seeing_fixture {};

TEST_F(SeeingCommands, ReportWhyTheyCannotLook) {
    put_secret("");
    for (const std::string command : {"who", "leader", "watch", "tree"}) {
        SCOPED_TRACE(command);
        EXPECT_THAT(err_of(run(command + " PATH"), 77), HasSubstr(path_));
    }
    for (const std::string command : {"who PATH -z 127.0.0.1:1 -t 0.5",
                                      "leader PATH -z 127.0.0.1:1 -t 0.5",
                                      "ping -z 127.0.0.1:1 -t 0.5"}) {
        SCOPED_TRACE(command);
        EXPECT_EQ(run(command)->wait(), 69);
    }
}

class WhoCommand : public seeing_fixture {};

TEST_F(WhoCommand, ShowsTheHolderAndTheQueue) {
    mutex first(one_, path_);
    mutex second(two_, path_);
    const hold h = first.acquire();
    std::stop_source stop;
    auto waiting = queued_until(stop.get_token(), second);
    EXPECT_THAT(out_of(run("who PATH")),
                AllOf(HasSubstr(path_ + ": mutex, 1 holding, 1 waiting\n"),
                      HasSubstr("0    holds  exclusive"),
                      HasSubstr("1    waits  exclusive"),
                      HasSubstr("(pid " + std::to_string(::getpid())),
                      HasSubstr(h.token().to_string()),
                      Not(HasSubstr("\x1b"))));
    const auto seen = object_of(run("who --json PATH"));
    EXPECT_EQ(seen["kind"], "mutex");
    EXPECT_EQ(seen["holders"], 1);
    EXPECT_EQ(seen["waiters"], 1);
    const auto& holder = seen["participants"][0];
    EXPECT_EQ(holder["pid"], ::getpid());
    EXPECT_EQ(holder["token"], h.token().to_string());
    EXPECT_EQ(holder["node"], h.path());
    EXPECT_EQ(seen["participants"][1]["state"], "waits");
    stop.request_stop();
    static_cast<void>(waiting.get());
}

TEST_F(WhoCommand, ShowsSeveralPathsAndEndsWithOneIfNothingHoldsAny) {
    semaphore s(one_, path_, 3);
    const hold h = s.acquire(2);
    EXPECT_THAT(out_of(run("who PATH PATH-none")),
                AllOf(HasSubstr("semaphore, 2 of 3 permits taken"),
                      HasSubstr("2 permits"),
                      HasSubstr(path_ + "-none: does not exist")));
    EXPECT_EQ(run("who PATH-none")->wait(), 1);
    EXPECT_THAT(out_of(run("who --help")), HasSubstr("EXAMPLES"));
}

class LeaderCommand : public seeing_fixture {};

TEST_F(LeaderCommand, PrintsThePresentLeader) {
    leader_latch latch(one_, path_, {.id = "alpha", .data = "10.0.0.1:80"});
    const std::string token = latch.wait().token().to_string();
    ASSERT_TRUE(eventually([&] {
        const auto now = leader_observer::leader(one_, path_);
        return now && now->data == "10.0.0.1:80";
    }));
    EXPECT_THAT(
        out_of(run("leader PATH")),
        AllOf(StartsWith("leader alpha " + token + ' ' + path_ + '/'), EndsWith(" 10.0.0.1:80\n")));
    const auto seen = object_of(run("leader --json PATH"));
    EXPECT_EQ(seen["path"], path_);
    EXPECT_EQ(seen["leader"], "alpha");
    EXPECT_EQ(seen["token"], token);
    EXPECT_EQ(seen["data"], "10.0.0.1:80");
}

TEST_F(LeaderCommand, PrintsALeaderOfCurators) {
    put("");
    put_participant(curators_id + "latch-0000000001", "node\x1b[2J");
    EXPECT_THAT(out_of(run("leader PATH")), StartsWith("leader node\\x1b[2J - " + path_ + '/'));
}

TEST_F(LeaderCommand, EndsWithOneIfNobodyLeads) {
    EXPECT_EQ(out_of(run("leader PATH"), 1), "no leader\n");
    EXPECT_TRUE(object_of(run("leader --json PATH"), 1)["leader"].is_null());
}

class TreeCommand : public seeing_fixture {};

TEST_F(TreeCommand, ListsAllLocksBelowAPath) {
    mutex first(one_, path_ + "/jobs/nightly");
    shared_mutex second(one_, path_ + "/files");
    const hold one = first.acquire();
    const hold two = second.acquire(lock_mode::shared);
    const hold three = second.acquire(lock_mode::shared);
    EXPECT_THAT(out_of(run("tree PATH")),
                AllOf(HasSubstr("KIND "),
                      HasSubstr(path_ + "/jobs/nightly  "),
                      HasSubstr(path_ + "/files  "),
                      HasSubstr(" and 1 more")));
    const auto all = objects_of(run("tree --json PATH"));
    ASSERT_THAT(all, SizeIs(3));
    EXPECT_EQ(all[0]["type"], "lock");
    EXPECT_EQ(all[0]["path"], path_ + "/files");
    EXPECT_EQ(all[0]["holders"], 2);
    EXPECT_EQ(all[1]["kind"], "mutex");
    EXPECT_EQ(all[2]["type"], "end");
    EXPECT_EQ(all[2]["locks"], 2);
    EXPECT_EQ(all[2]["ending"], "complete");
}

TEST_F(TreeCommand, NamesPathsThatMayNotBeRead) {
    put("");
    put_secret("/secret");
    mutex m(one_, path_ + "/open");
    const hold h = m.acquire();
    EXPECT_THAT(out_of(run("tree PATH")),
                AllOf(HasSubstr("unreadable"), HasSubstr(path_ + "/secret")));
}

TEST_F(TreeCommand, SaysThatThereIsNothingOrThatItIsNotComplete) {
    EXPECT_EQ(run("tree PATH-none")->wait(), 1);
    mutex m(one_, path_ + "/a/b/c");
    const hold h = m.acquire();
    EXPECT_THAT(err_of(run("tree --max-depth 1 PATH"), 65), HasSubstr("--max-depth"));
    const auto few = run("tree --max-znodes 1 PATH");
    EXPECT_THAT(err_of(few, 65), HasSubstr("--max-znodes"));
    EXPECT_THAT(few->out(), Not(HasSubstr("mutex")));
}

}  // namespace
}  // namespace latchkey::test
