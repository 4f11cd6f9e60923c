#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "queued.hpp"
#include "seeing_fixture.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WhoCommand : public seeing_fixture {};

TEST_F(WhoCommand, ShowsTheHolderAndTheQueue) {
    mutex first(one_, path_);
    mutex second(two_, path_);
    hold h = first.acquire();
    std::stop_source stop;
    auto waiting = queued_until(stop.get_token(), second);
    const auto who = run("who", {path_});
    EXPECT_EQ(who->wait(), 0) << who->err();
    EXPECT_THAT(who->out(),
                AllOf(HasSubstr(path_ + ": mutex, 1 holding, 1 waiting\n"),
                      HasSubstr("0    holds  exclusive"),
                      HasSubstr("1    waits  exclusive"),
                      HasSubstr("(pid " + std::to_string(::getpid())),
                      HasSubstr(h.token().to_string()),
                      Not(HasSubstr("\x1b"))));
    const auto as_json = run("who", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 0);
    const auto seen = nlohmann::json::parse(as_json->out());
    EXPECT_EQ(seen["kind"], "mutex");
    EXPECT_EQ(seen["holders"], 1);
    EXPECT_EQ(seen["waiters"], 1);
    EXPECT_EQ(seen["participants"][0]["pid"], ::getpid());
    EXPECT_EQ(seen["participants"][0]["token"], h.token().to_string());
    EXPECT_EQ(seen["participants"][0]["node"], h.path());
    EXPECT_EQ(seen["participants"][1]["state"], "waits");
    stop.request_stop();
    static_cast<void>(waiting.get());
}

TEST_F(WhoCommand, ShowsTheIdThatALockWasGiven) {
    put(path_);
    put(path_ + '/' + curators_name,
        R"({"host":"ci-4","user":"build","pid":812,"id":"nightly"})",
        create_mode::ephemeral);
    const auto who = run("who", {path_});
    EXPECT_EQ(who->wait(), 0);
    EXPECT_THAT(who->out(), HasSubstr("nightly, build@ci-4 (pid 812)"));
    const auto as_json = run("who", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 0);
    EXPECT_EQ(nlohmann::json::parse(as_json->out())["participants"][0]["id"], "nightly");
}

TEST_F(WhoCommand, ShowsOtherLibrariesParticipants) {
    put(path_);
    put(path_ + '/' + curators_name, "10.0.0.1", create_mode::ephemeral);
    put(path_ + '/' + gos_name, {}, create_mode::ephemeral);
    put(path_ + '/' + kazoos_name, "worker\x1b[2J", create_mode::ephemeral);
    const auto who = run("who", {path_});
    EXPECT_EQ(who->wait(), 0);
    EXPECT_THAT(who->out(),
                AllOf(HasSubstr("10.0.0.1"), HasSubstr("worker\\x1b[2J"), HasSubstr(gos_name)));
    const auto as_json = run("who", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 0);
    const auto all = nlohmann::json::parse(as_json->out())["participants"];
    EXPECT_EQ(all[0]["library"], "curator");
    EXPECT_EQ(all[1]["library"], "go");
    EXPECT_EQ(all[2]["library"], "kazoo");
    EXPECT_EQ(all[2]["data"], "worker\x1b[2J");
}

TEST_F(WhoCommand, ShowsSeveralPathsAndEndsWithOneIfNothingHoldsAny) {
    semaphore s(one_, path_, 3);
    const hold h = s.acquire(2);
    const auto both = run("who", {path_, path_ + "-none"});
    EXPECT_EQ(both->wait(), 0);
    EXPECT_THAT(both->out(),
                AllOf(HasSubstr("semaphore, 2 of 3 permits taken"),
                      HasSubstr("2 permits"),
                      HasSubstr(path_ + "-none: does not exist")));
    EXPECT_EQ(run("who", {path_ + "-none"})->wait(), 1);
}

TEST_F(WhoCommand, ReportsWhyItCannotLook) {
    EXPECT_EQ(run("who", {})->wait(), 64);
    EXPECT_EQ(run("who", {"relative"})->wait(), 64);
    EXPECT_EQ(run("who", {"--no-such-option", path_})->wait(), 64);
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    EXPECT_EQ(run("who", {"-t", "0.5", path_}, nowhere)->wait(), 69);
    put(path_, {}, create_mode::persistent, {{"digest", "nobody:0000000000000000000000000000"}});
    const auto refused = run("who", {path_});
    EXPECT_EQ(refused->wait(), 77);
    EXPECT_THAT(refused->err(), HasSubstr(path_));
    const auto help = run("who", {"--help"});
    EXPECT_EQ(help->wait(), 0);
    EXPECT_THAT(help->out(), HasSubstr("EXAMPLES"));
    program_surroundings closed;
    closed.closed_stdout = true;
    EXPECT_EQ(run("who", {path_ + "-none"}, closed)->wait(), 74);
}

}  // namespace
}  // namespace latchkey::test
