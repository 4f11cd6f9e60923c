#include <latchkey/leader_latch.hpp>

#include "elect_fixture.hpp"
#include "leader_transfer.hpp"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// `latchkey resign` and --priority: one candidate's command ends, another candidate's begins.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class ElectTransfer : public elect_fixture {
protected:
    ElectTransfer() : elect_fixture(real_ensemble::shared().connect_string()) {}

    /// "latchkey resign OPTIONS PATH".
    std::unique_ptr<program> resign(const words& options = {},
                                    const program_surroundings& around = {}) const {
        return start("resign", options, {}, around);
    }

    /// A candidate whose command writes $DIR/ID, and $DIR/ID-term when it gets TERM. The command
    /// exits with status 3 when $DIR/end exists.
    std::unique_ptr<program> candidate(const std::string& id, words options = {}) const {
        options.insert(options.end(), {"--id", id});
        return elect_sh(options,
                        "trap 'touch $DIR/" + id + "-term' TERM; echo $LATCHKEY_TOKEN >>$DIR/" +
                            id + "; while ! [ -e $DIR/end ]; do sleep 0.01; done; exit 3");
    }

    /// The token of the candidate's first term.
    [[nodiscard]] std::int64_t token_of(const std::string& id) const {
        EXPECT_TRUE(eventually([&] { return content_of(folder_ / id).ends_with('\n'); })) << id;
        return std::atoll(content_of(folder_ / id).c_str());
    }

    void let_commands_end() const { std::ofstream(folder_ / "end").close(); }

    /// Whether the candidates in queue order have these ids, and `latchkey resign` reaches each.
    [[nodiscard]] bool all_can_be_asked(const words& ids) {
        return eventually_candidates(ids) &&
               candidates_are_there(*world_, path_, ids.size(), ids.size());
    }

private:
    std::unique_ptr<world> world_ = make_world(world_kind::real);
};

TEST_F(ElectTransfer, HandsOverToTheGivenCandidateWhenItsCommandHasEnded) {
    const auto first = candidate("first");
    ASSERT_TRUE(eventually_exists("first"));
    const auto second = elect_sh({"--id", "second"}, "touch $DIR/second; exec sleep 1000");
    ASSERT_TRUE(eventually_candidates({"first", "second"}));
    const auto third = elect_sh({"--id", "third"}, "touch $DIR/third; exec sleep 1000");
    ASSERT_TRUE(all_can_be_asked({"first", "second", "third"}));
    ASSERT_TRUE(eventually([&] {
        const auto asked = resign({"--to", "third"});
        EXPECT_EQ(asked->wait(), 0) << asked->err();
        return eventually([&] { return exists("first-term"); }, 5s);
    })) << "the leader's offer stands for a moment, and is made again when it is asked again";
    EXPECT_FALSE(exists("third")) << "before the leader's command has ended";
    EXPECT_TRUE(eventually_candidates({"first", "third", "second"}));
    let_commands_end();
    ASSERT_TRUE(eventually_exists("third"));
    ASSERT_TRUE(all_can_be_asked({"third", "second", "first"}));
    EXPECT_FALSE(exists("second"));

    EXPECT_EQ(resign()->wait(), 0);
    EXPECT_TRUE(eventually_exists("second")) << "the next in the queue";
}

// The help says ten seconds.
TEST_F(ElectTransfer, PreferredCandidateTakesOverWhenItHasBeenThereForAWhile) {
    const auto plain = candidate("plain");
    ASSERT_TRUE(eventually_exists("plain"));
    const auto last = candidate("last", {"--priority", "-1"});
    ASSERT_TRUE(all_can_be_asked({"plain", "last"}));
    const auto before = std::chrono::steady_clock::now();
    const auto best = candidate("best", {"--priority", "5", "--once"});
    ASSERT_TRUE(eventually_exists("plain-term")) << plain->err();
    EXPECT_GE(std::chrono::steady_clock::now() - before, 10s);
    EXPECT_TRUE(eventually_candidates({"plain", "best", "last"}));
    EXPECT_FALSE(exists("best")) << "before the leader's command has ended";
    let_commands_end();
    EXPECT_EQ(best->wait(), 3);
    EXPECT_GT(token_of("best"), token_of("plain"));
}

TEST_F(ElectTransfer, OnceHandsOverForGood) {
    const auto first = candidate("first", {"--once"});
    ASSERT_TRUE(eventually_exists("first"));
    const auto second = candidate("second");
    ASSERT_TRUE(all_can_be_asked({"first", "second"}));
    EXPECT_EQ(resign()->wait(), 0);
    ASSERT_TRUE(eventually_exists("first-term"));
    EXPECT_TRUE(first->running());
    let_commands_end();
    EXPECT_EQ(first->wait(), 3);
    EXPECT_TRUE(eventually_exists("second"));
    EXPECT_TRUE(eventually_candidates({"second"}));
}

TEST_F(ElectTransfer, LeadsAgainIfThereIsNoOtherCandidate) {
    const auto only = elect_sh({"--id", "only"},
                               "trap 'touch $DIR/term; exit 0' TERM; echo $LATCHKEY_TOKEN "
                               ">>$DIR/terms; while :; do sleep 0.01; done");
    ASSERT_TRUE(eventually_exists("terms"));
    ASSERT_TRUE(all_can_be_asked({"only"}));
    const auto asked = resign({"--verbose"});
    EXPECT_EQ(asked->wait(), 0);
    EXPECT_THAT(asked->err(), HasSubstr("was asked to hand over"));
    EXPECT_EQ(asked->out(), "");
    ASSERT_TRUE(eventually([&] { return lines_of(content_of(folder_ / "terms")).size() == 2; }));
    const auto terms = lines_of(content_of(folder_ / "terms"));
    EXPECT_GT(std::stoll(terms[1]), std::stoll(terms[0]));
    EXPECT_TRUE(exists("term"));
}

TEST_F(ElectTransfer, KeepsLeadingIfTheGivenCandidateIsNotThere) {
    const auto first = candidate("first");
    ASSERT_TRUE(eventually_exists("first"));
    const auto second = candidate("second");
    ASSERT_TRUE(all_can_be_asked({"first", "second"}));
    for (const char* other : {"nobody", "first"}) {
        EXPECT_EQ(resign({"--to", other})->wait(), 0);
    }
    EXPECT_FALSE(exists("first-term"));
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(resign({"--to", "second"})->wait(), 0);
        return eventually([&] { return exists("first-term"); }, 5s);
    }));
    EXPECT_EQ(lines_of(content_of(folder_ / "first")).size(), 1U) << "in one term until then";
}

TEST_F(ElectTransfer, ResigningNeedsALeaderThatCanBeAsked) {
    EXPECT_EQ(resign()->wait(), 1);
    leader_latch latch(view(), path_, {.id = "a"});
    static_cast<void>(latch.wait());
    const auto refused = resign();
    EXPECT_EQ(refused->wait(), 65);
    EXPECT_THAT(refused->err(), HasSubstr(path_));
    const auto as_json = resign({"--json"});
    EXPECT_EQ(as_json->wait(), 65);
    EXPECT_THAT(nlohmann::json::parse(as_json->err()).dump(), HasSubstr(path_));
    program_surroundings nowhere;
    nowhere.environment["LATCHKEY_SERVERS"] = "127.0.0.1:1";
    EXPECT_EQ(resign({"-t", "0.5"}, nowhere)->wait(), 69);
}

TEST_F(ElectTransfer, ResigningTakesARightToAsk) {
    program_surroundings jo;
    jo.environment["LATCHKEY_AUTH"] = "digest jo:secret";
    const auto leader = elect({"--id", "hers"}, {}, jo);
    ASSERT_TRUE(eventually([&] { return !leader->out().empty(); }));
    const auto anonymous = resign();
    EXPECT_EQ(anonymous->wait(), 77);
    EXPECT_THAT(anonymous->err(), HasSubstr(path_));
    ASSERT_TRUE(eventually([&] { return resign({}, jo)->wait() == 0; }));
    EXPECT_TRUE(eventually([&] { return lines_of(leader->out()).size() == 2; }));
}

TEST_F(ElectTransfer, WrongUseOfResignIsReported) {
    EXPECT_EQ(start("resign", {}, {"twice"}, {})->wait(), 64);
    const auto to_nobody = resign({"--to", ""});
    EXPECT_EQ(to_nobody->wait(), 64);
    EXPECT_THAT(to_nobody->err(), HasSubstr("id"));
    program pathless({"resign", "-z", servers_});
    EXPECT_EQ(pathless.wait(), 64);
    EXPECT_THAT(pathless.err(), HasSubstr("which election"));
    program help({"resign", "--help"});
    EXPECT_EQ(help.wait(), 0);
    EXPECT_THAT(help.out(), HasSubstr("--to"));
}

}  // namespace

}  // namespace latchkey::test
