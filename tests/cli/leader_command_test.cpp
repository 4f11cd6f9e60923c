#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "seeing_fixture.hpp"

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LeaderCommand : public seeing_fixture {};

TEST_F(LeaderCommand, PrintsThePresentLeader) {
    leader_latch latch(one_, path_, {.id = "alpha", .data = "10.0.0.1:80"});
    const leadership term = latch.wait();
    ASSERT_TRUE(eventually([&] {
        const auto now = leader_observer::leader(one_, path_);
        return now && now->data == "10.0.0.1:80";
    }));
    const auto leader = run("leader", {path_});
    EXPECT_EQ(leader->wait(), 0) << leader->err();
    EXPECT_THAT(leader->out(),
                AllOf(StartsWith("leader alpha " + term.token().to_string() + ' ' + path_ + '/'),
                      HasSubstr(" 10.0.0.1:80\n")));
    const auto as_json = run("leader", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 0);
    const auto seen = nlohmann::json::parse(as_json->out());
    EXPECT_EQ(seen["path"], path_);
    EXPECT_EQ(seen["leader"], "alpha");
    EXPECT_EQ(seen["token"], term.token().to_string());
    EXPECT_EQ(seen["data"], "10.0.0.1:80");
}

TEST_F(LeaderCommand, PrintsALeaderOfCurators) {
    put(path_);
    put(path_ + "/_c_0f8fad5b-d9cb-469f-a165-70867728950e-latch-0000000001",
        "node\x1b[2J",
        create_mode::ephemeral);
    const auto leader = run("leader", {path_});
    EXPECT_EQ(leader->wait(), 0);
    EXPECT_THAT(leader->out(), StartsWith("leader node\\x1b[2J - " + path_ + '/'));
}

TEST_F(LeaderCommand, EndsWithOneIfNobodyLeads) {
    const auto nobody = run("leader", {path_});
    EXPECT_EQ(nobody->wait(), 1);
    EXPECT_EQ(nobody->out(), "no leader\n");
    const auto as_json = run("leader", {"--json", path_});
    EXPECT_EQ(as_json->wait(), 1);
    EXPECT_TRUE(nlohmann::json::parse(as_json->out())["leader"].is_null());
}

TEST_F(LeaderCommand, ReportsWhyItCannotTell) {
    EXPECT_EQ(run("leader", {})->wait(), 64);
    EXPECT_EQ(run("leader", {"relative"})->wait(), 64);
    EXPECT_EQ(run("leader", {path_, path_})->wait(), 64);
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    EXPECT_EQ(run("leader", {"-t", "0.5", path_}, nowhere)->wait(), 69);
    put(path_, {}, create_mode::persistent, {{"digest", "nobody:0000000000000000000000000000"}});
    EXPECT_EQ(run("leader", {path_})->wait(), 77);
    EXPECT_THAT(run("leader", {"--help"})->wait(), 0);
}

}  // namespace
}  // namespace latchkey::test
