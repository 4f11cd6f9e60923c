#include "seeing_fixture.hpp"

#include <algorithm>
#include <cstddef>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class PingCommand : public seeing_fixture {
protected:
    [[nodiscard]] program_surroundings with(const std::string& servers) const {
        program_surroundings around;
        around.environment["LATCHKEY_SERVERS"] = servers;
        return around;
    }
};

TEST_F(PingCommand, MeasuresEachServer) {
    const auto count =
        static_cast<std::size_t>(1 + std::count(servers_.begin(), servers_.end(), ','));
    const auto text = run("ping", {"-n", "3", "-t", "30"}, with(servers_));
    EXPECT_EQ(text->wait(), 0) << text->err();
    EXPECT_THAT(text->out(),
                AllOf(HasSubstr(first_server() + ": session timeout 30 s\n"),
                      HasSubstr("  read                3 "),
                      HasSubstr("  quorum write        3 ")));
    const auto as_json = run("ping", {"-n", "20", "-t", "30", "--json"}, with(servers_));
    EXPECT_EQ(as_json->wait(), 0);
    const auto all = objects_in(as_json->out());
    ASSERT_THAT(all, SizeIs(count));
    EXPECT_EQ(all[0]["server"], first_server());
    for (const auto& server : all) {
        EXPECT_EQ(server["answers"], true);
        EXPECT_EQ(server["session_timeout_ms"], 30000);
        for (const char* what : {"reads", "writes"}) {
            const auto& times = server[what];
            EXPECT_EQ(times["count"], 20);
            EXPECT_GT(times["min_us"], 0);
            EXPECT_LE(times["min_us"], times["p50_us"]);
            EXPECT_LE(times["p50_us"], times["p90_us"]);
            EXPECT_LE(times["p90_us"], times["p99_us"]);
            EXPECT_LE(times["p99_us"], times["max_us"]);
        }
    }
}

TEST_F(PingCommand, NamesServersThatDoNotAnswer) {
    const auto one_of_two = in_time(2, "session timeout ", [&](const std::string& limit) {
        return run("ping", {"-n", "1", "-t", limit}, with("127.0.0.1:1," + first_server()));
    });
    EXPECT_EQ(one_of_two->wait(), 1);
    EXPECT_THAT(one_of_two->out(),
                AllOf(HasSubstr("127.0.0.1:1: does not answer ("),
                      HasSubstr(first_server() + ": session timeout ")));
    const auto none = run("ping", {"-t", "0.5", "--json"}, with("127.0.0.1:1"));
    EXPECT_EQ(none->wait(), 69);
    const auto seen = nlohmann::json::parse(none->out());
    EXPECT_EQ(seen["answers"], false);
    EXPECT_THAT(seen["error"].get<std::string>(), HasSubstr("127.0.0.1:1"));
}

TEST_F(PingCommand, WorksBelowAChrootThatDoesNotExist) {
    const auto below = run("ping", {"-n", "1"}, with(first_server() + path_));
    EXPECT_EQ(below->wait(), 0) << below->out() << below->err();
}

TEST_F(PingCommand, RefusesWrongUse) {
    EXPECT_EQ(run("ping", {"-n", "0"})->wait(), 64);
    EXPECT_EQ(run("ping", {"-n", "many"})->wait(), 64);
    EXPECT_EQ(run("ping", {"/path"})->wait(), 64);
    EXPECT_EQ(run("ping", {}, with("host:port"))->wait(), 64);
    EXPECT_EQ(run("ping", {"--help"})->wait(), 0);
}

}  // namespace
}  // namespace latchkey::test
