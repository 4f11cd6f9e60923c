#include <latchkey/leader_latch.hpp>

#include "elect_fixture.hpp"
#include "leader_transfer.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// `latchkey resign` and --priority: one candidate's command ends, another candidate's begins.

namespace latchkey::test {

namespace {

using namespace std::chrono_literals;

class ElectTransfer : public elect_fixture {
protected:
    /// A candidate whose command writes $DIR/ID, and $DIR/ID-term when it gets TERM. The command
    /// exits with status 3 when $DIR/end exists.
    running_program candidate(const std::string& id, const std::string& options = {}) const {
        return run_sh("elect " + options + " --id " + id + " PATH",
                      "trap 'touch $DIR/" + id + "-term' TERM; echo $LATCHKEY_TOKEN >>$DIR/" + id +
                          "; while ! [ -e $DIR/end ]; do sleep 0.01; done; exit 3");
    }

    /// The same, once it leads.
    running_program leader(const std::string& id, const std::string& options = {}) const {
        auto p = candidate(id, options);
        EXPECT_TRUE(folder_.eventually_has(id)) << p->err();
        return p;
    }

    void let_commands_end() const { folder_.write("end"); }

    /// Whether the candidates in queue order have these ids, and `latchkey resign` reaches each.
    [[nodiscard]] bool all_can_be_asked(const std::string& ids) {
        const auto count = words_of(ids).size();
        return eventually_candidates(ids) && candidates_are_there(*world_, path_, count, count);
    }

    /// The leader's offer stands for a moment, and is made again when it is asked again.
    [[nodiscard]] bool hands_over_to(const std::string& id) const {
        return eventually([&] {
            const auto asked = run("resign --to " + id + " PATH");
            EXPECT_EQ(asked->wait(), 0) << asked->err();
            return eventually([&] { return folder_.has("first-term"); }, 5s);
        });
    }

private:
    std::unique_ptr<world> world_ = make_world(world_kind::real);
};

TEST_F(ElectTransfer, HandsOverToTheGivenCandidateWhenItsCommandHasEnded) {
    const auto first = leader("first");
    const auto second = run_sh("elect --id second PATH", "touch $DIR/second; exec sleep 1000");
    ASSERT_TRUE(eventually_candidates("first second"));
    const auto third = run_sh("elect --id third PATH", "touch $DIR/third; exec sleep 1000");
    ASSERT_TRUE(all_can_be_asked("first second third"));
    ASSERT_TRUE(hands_over_to("third"));
    EXPECT_FALSE(folder_.has("third")) << "before the leader's command has ended";
    EXPECT_TRUE(eventually_candidates("first third second"));
    let_commands_end();
    ASSERT_TRUE(folder_.eventually_has("third"));
    ASSERT_TRUE(all_can_be_asked("third second first"));
    EXPECT_FALSE(folder_.has("second"));

    EXPECT_EQ(run("resign PATH")->wait(), 0);
    EXPECT_TRUE(folder_.eventually_has("second")) << "the next in the queue";
}

// The help says ten seconds.
TEST_F(ElectTransfer, PreferredCandidateTakesOverWhenItHasBeenThereForAWhile) {
    const auto plain = leader("plain");
    const auto last = candidate("last", "--priority -1");
    ASSERT_TRUE(all_can_be_asked("plain last"));
    const auto before = std::chrono::steady_clock::now();
    const auto best = candidate("best", "--priority 5 --once");
    ASSERT_TRUE(folder_.eventually_has("plain-term")) << plain->err();
    EXPECT_GE(std::chrono::steady_clock::now() - before, 10s);
    EXPECT_TRUE(eventually_candidates("plain best last"));
    EXPECT_FALSE(folder_.has("best")) << "before the leader's command has ended";
    let_commands_end();
    EXPECT_EQ(best->wait(), 3);
    EXPECT_GT(numbers_in("best").front(), numbers_in("plain").front());
}

TEST_F(ElectTransfer, OnceHandsOverForGood) {
    const auto first = leader("first", "--once");
    const auto second = candidate("second");
    ASSERT_TRUE(all_can_be_asked("first second"));
    EXPECT_EQ(run("resign PATH")->wait(), 0);
    ASSERT_TRUE(folder_.eventually_has("first-term"));
    EXPECT_TRUE(first->running());
    let_commands_end();
    EXPECT_EQ(first->wait(), 3);
    EXPECT_TRUE(folder_.eventually_has("second"));
    EXPECT_TRUE(eventually_candidates("second"));
}

TEST_F(ElectTransfer, LeadsAgainIfThereIsNoOtherCandidate) {
    const auto only = run_sh("elect --id only PATH",
                             "trap 'touch $DIR/term; exit 0' TERM; "
                             "echo $LATCHKEY_TOKEN >>$DIR/terms; while :; do sleep 0.01; done");
    ASSERT_TRUE(folder_.eventually_has("terms"));
    ASSERT_TRUE(all_can_be_asked("only"));
    const auto asked = run("resign --verbose PATH");
    EXPECT_EQ(out_of(asked), "");
    EXPECT_THAT(asked->err(), HasSubstr("was asked to hand over"));
    ASSERT_TRUE(eventually([&] { return numbers_in("terms").size() == 2; }));
    EXPECT_TRUE(are_growing(numbers_in("terms"))) << folder_.content("terms");
    EXPECT_TRUE(folder_.has("term"));
}

TEST_F(ElectTransfer, KeepsLeadingIfTheGivenCandidateIsNotThere) {
    const auto first = leader("first");
    const auto second = candidate("second");
    ASSERT_TRUE(all_can_be_asked("first second"));
    for (const std::string other : {"nobody", "first"}) {
        EXPECT_EQ(run("resign --to " + other + " PATH")->wait(), 0);
    }
    EXPECT_FALSE(folder_.has("first-term"));
    ASSERT_TRUE(hands_over_to("second"));
    EXPECT_THAT(numbers_in("first"), SizeIs(1)) << "in one term until then";
}

TEST_F(ElectTransfer, ResigningNeedsALeaderThatCanBeAsked) {
    EXPECT_EQ(run("resign PATH")->wait(), 1);
    leader_latch latch(view(), path_, {.id = "a"});
    static_cast<void>(latch.wait());
    EXPECT_THAT(err_of(run("resign PATH"), 65), HasSubstr(path_));
    EXPECT_THAT(nlohmann::json::parse(err_of(run("resign --json PATH"), 65)).dump(),
                HasSubstr(path_));
    EXPECT_EQ(run("resign -z 127.0.0.1:1 -t 0.5 PATH")->wait(), 69);
}

TEST_F(ElectTransfer, ResigningTakesARightToAsk) {
    const auto leader = holding("elect --id hers PATH", {}, jo);
    EXPECT_THAT(err_of(run("resign PATH"), 77), HasSubstr(path_));
    ASSERT_TRUE(eventually([&] { return run("resign PATH", {}, jo)->wait() == 0; }));
    EXPECT_TRUE(eventually([&] { return lines_of(leader->out()).size() == 2; }));
}

}  // namespace

}  // namespace latchkey::test
