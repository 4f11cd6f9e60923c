#include <latchkey/guard.hpp>
#include <latchkey/leadership.hpp>

#include "stepped_test.hpp"

#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// How much of a hold is left, and who is warned when it becomes little.
class AtRisk : public SteppedTest {
protected:
    client a_ = connected({.session_timeout = 12s});
    mutex mine_{a_, "/lock"};
};

TEST_F(AtRisk, WhatRemainsIsTheTimeUntilTheDeadline) {
    const hold h = held(mine_);
    ensemble_.suspend(a_.session_id());
    const auto left = h.remaining();
    EXPECT_GT(left, 0s);
    EXPECT_LE(left, 12s);
    EXPECT_TRUE(h.valid_for(left - 1ms));
    EXPECT_FALSE(h.valid_for(left));
    ensemble_.run_for(1s);
    EXPECT_EQ(h.remaining(), left - 1s);
    ensemble_.run_for(left);
    EXPECT_EQ(h.remaining(), 0s);
    EXPECT_FALSE(h.valid_for(0s));
    EXPECT_FALSE(h);
    EXPECT_EQ(h.why_lost(), loss_reason::deadline_passed);
}

TEST_F(AtRisk, NothingRemainsOfAnEmptyHold) {
    const hold none;
    EXPECT_EQ(none.remaining(), 0s);
    EXPECT_FALSE(none.valid_for(0s));
    EXPECT_FALSE(none.at_risk(1s).stop_possible());
    EXPECT_EQ(none.why_lost(), loss_reason::none);
    EXPECT_FALSE(leadership().at_risk(1s).stop_possible());
}

TEST_F(AtRisk, WarnsWhenTheMarginIsLeftAndNotWhileServersAnswer) {
    const hold h = held(mine_);
    const std::stop_token warned = h.at_risk(2s);
    ensemble_.run_for(60s);
    EXPECT_FALSE(warned.stop_requested());
    ensemble_.suspend(a_.session_id());
    const auto left = h.remaining();
    ensemble_.run_for(left - 2s - 1ms);
    EXPECT_FALSE(warned.stop_requested());
    ensemble_.run_for(2ms);
    EXPECT_TRUE(warned.stop_requested());
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(h.lost().stop_requested());
}

TEST_F(AtRisk, WarnsAtOnceIfLessIsLeft) {
    const hold h = held(mine_);
    const std::stop_token warned = h.at_risk(1h);
    ensemble_.run_for(1ms);
    EXPECT_TRUE(warned.stop_requested());
}

TEST_F(AtRisk, IsRequestedWithALossThatComesWithoutWarning) {
    const hold h = held(mine_);
    const std::stop_token warned = h.at_risk(1s);
    ensemble_.remove(h.path());
    ASSERT_TRUE(ensemble_.run_until([&] { return h.lost().stop_requested(); }, 5s));
    EXPECT_TRUE(warned.stop_requested());
}

TEST_F(AtRisk, AReleaseRequestsNothing) {
    hold h = held(mine_);
    const std::stop_token warned = h.at_risk(1s);
    const std::stop_token lost = h.lost();
    h.release();
    ensemble_.run_for(60s);
    EXPECT_FALSE(warned.stop_requested());
    EXPECT_FALSE(lost.stop_requested());
}

TEST_F(AtRisk, AGuardReactsToTheLossOnce) {
    guard g(held(mine_));
    std::vector<loss_reason> told;
    g.on_loss([&](loss_reason why) { told.push_back(why); });
    g.check();
    ensemble_.remove(g.hold().path());
    ASSERT_TRUE(ensemble_.run_until([&] { return !told.empty(); }, 5s));
    ensemble_.run_for(20s);
    EXPECT_EQ(told, std::vector{loss_reason::znode_deleted});
    EXPECT_FALSE(g.valid());
    try {
        g.check();
        ADD_FAILURE() << "a lost lock passed the check";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::hold_lost);
    }
    EXPECT_THROW(static_cast<void>(guard{hold()}), error);
}

TEST_F(AtRisk, AReactionToALossThatWasBeforeRunsAtOnce) {
    guard g(held(mine_));
    ensemble_.expire(a_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return g.hold().lost().stop_requested(); }, 30s));
    loss_reason told = loss_reason::none;
    g.on_loss([&](loss_reason why) { told = why; });
    EXPECT_EQ(told, loss_reason::session_expired);
}

}  // namespace
}  // namespace latchkey::test
