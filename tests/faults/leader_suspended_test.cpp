// What becomes of a leader whose connection is gone, with either policy.
#include "election.hpp"

#include <gmock/gmock.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

class SuspendedLeader : public election {
protected:
    SuspendedLeader() { run_for(10s); }

    static leader_options of(suspended_policy p) { return {.on_suspended = p}; }
};

TEST_F(SuspendedLeader, LeadsOnUntilItsDeadlineAndLosesNothingIfItComesBackBefore) {
    candidate& first = leading();
    candidate& second = following();
    run_for(10s);
    const auto token = first.latch->term().token();
    ensemble_.suspend(first.id());
    run_for(4s);
    EXPECT_TRUE(first.latch->is_leader()) << "believed for half of the 12 s";
    ensemble_.resume(first.id());
    run_for(20s);
    EXPECT_TRUE(first.latch->is_leader());
    EXPECT_EQ(first.latch->term().token(), token);
    EXPECT_THAT(first.story.told(), ElementsAre("elected"));
    EXPECT_FALSE(second.latch->is_leader());
}

TEST_F(SuspendedLeader, IsNoLeaderAfterItsDeadlineAndBeforeTheNextOneIs) {
    candidate& first = leading();
    candidate& second = following();
    ensemble_.suspend(first.id());
    ASSERT_TRUE(run_until([&] { return !first.latch->is_leader(); }, 12s));
    EXPECT_FALSE(second.latch->is_leader());
    ASSERT_TRUE(leads(second, 15s));
    ensemble_.resume(first.id());
    run_for(20s);
    expect_in_order(second);
    EXPECT_THAT(first.story.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::deadline_passed)));
    second.latch->resign();
    EXPECT_TRUE(leads(first));
    expect_pairs(first);
}

TEST_F(SuspendedLeader, StepsDownAtOnceIfThatIsItsPolicyAndGoesToTheTail) {
    candidate& first = leading(of(suspended_policy::step_down));
    candidate& second = following();
    run_for(10s);
    const leadership term = first.latch->term();
    ensemble_.suspend(first.id());
    run_for(10 * one_way);
    EXPECT_FALSE(term.valid());
    EXPECT_EQ(term.why_lost(), loss_reason::suspended);
    EXPECT_TRUE(term.lost().stop_requested());
    EXPECT_THAT(first.story.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::suspended)));
    EXPECT_FALSE(second.latch->is_leader()) << "the znode is there as long as nobody can delete it";
    ensemble_.resume(first.id());
    ASSERT_TRUE(leads(second, 2s)) << "no session timeout was waited for";
    expect_in_order(second);
    second.latch->resign();
    EXPECT_TRUE(leads(first));
    expect_pairs(first);
}

TEST_F(SuspendedLeader, StepsDownOnceForAWordAndLeadsAgainWhenNobodyElseDoes) {
    candidate& c = leading(of(suspended_policy::step_down));
    for (int i = 0; i < 3; ++i) {
        const auto before = c.latch->term().token();
        ensemble_.cut(c.id());
        run_for(one_way);
        ASSERT_TRUE(leads(c, 5s));
        EXPECT_GT(c.latch->term().token(), before);
        expect_in_order(c);
    }
    EXPECT_EQ(c.story.count("elected"), 4U);
    EXPECT_EQ(c.story.count("lost"), 3U);
}

/// Whatever becomes of the leader's connection, and whenever.
TEST_F(SuspendedLeader, NeverMakesASecondOne) {
    for (const auto policy : {suspended_policy::until_deadline, suspended_policy::step_down}) {
        for (auto phase = 0ms; phase < 4s; phase += 370ms) {
            for (int how = 0; how < 4; ++how) {
                candidate& first = leading(of(policy));
                candidate& second = following(of(policy));
                run_for(phase);
                const int follower = (ensemble_.leader() + 1) % 3;
                switch (how) {
                    case 0:
                        ensemble_.suspend(first.id());
                        break;
                    case 1:
                        ensemble_.black_hole(first.id());
                        break;
                    case 2:
                        ensemble_.pause(first.id());
                        break;
                    default:
                        ensemble_.move(first.id(), follower);
                        run_for(100ms);
                        ensemble_.isolate(follower);
                        break;
                }
                run_for(40s);
                ensemble_.resume(first.id());
                ensemble_.heal(follower);
                ASSERT_TRUE(somebody_leads());
                run_for(30s);
                expect_pairs(first);
                expect_pairs(second);
                expect_in_order(*leader());
                ASSERT_FALSE(HasFailure()) << "phase " << phase.count() << " ms, how " << how;
                candidates_.clear();
                run_for(1s);
            }
        }
    }
}

}  // namespace
}  // namespace latchkey::test
