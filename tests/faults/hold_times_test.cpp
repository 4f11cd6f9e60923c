// How long a hold lasts: lock_options::max_hold and min_hold, and what is left of it.
#include <latchkey/guard.hpp>
#include <latchkey/leadership.hpp>
#include <latchkey/shared_mutex.hpp>

#include "lock_fixture.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;

class HoldTimes : public LockFaults {
protected:
    /// A hold that is converted after two seconds.
    hold converted(shared_mutex& m, lock_mode from, lock_mode to) {
        hold h = held(m, from);
        ensemble_.run_for(2s);
        const auto a = convert(m, std::move(h), to);
        expect_granted(a);
        EXPECT_EQ(a->granted.mode(), to);
        return std::move(a->granted);
    }
};

using MaxHold = HoldTimes;
using MinHold = HoldTimes;

TEST_F(MaxHold, IsTheDeadlineAndFreesTheLockOfAProgramThatHangs) {
    mutex mine(a_, "/lock", {.max_hold = 3s});
    hold h = held(mine);
    const auto granted = ensemble_.now();
    EXPECT_LE(h.remaining(), 3s);
    EXPECT_FALSE(h.valid_for(3s + 1ms));
    const auto next = acquire(theirs_);
    ensemble_.run_for(2900ms);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(next->done);
    expect_granted(next, 1s);
    EXPECT_GE(next->at - granted, 3s);
    EXPECT_LE(next->at - granted, 3s + 4 * round_trip);
    expect_lost(h, loss_reason::max_hold_passed, 0s);
    h.release();
    next->granted.release();
    EXPECT_TRUE(held(mine).valid()) << "the object goes on";
}

TEST_F(MaxHold, DoesNotMatterToAHoldThatIsReleasedInTime) {
    mutex mine(a_, "/lock", {.max_hold = 3s});
    held(mine).release();
    hold h = held(mine);
    ensemble_.run_for(2s);
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::none);
    h.release();
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), 0U);
}

TEST_F(MaxHold, IsKeptByAConvertedHold) {
    for (const auto& [from, to] : {std::pair(exclusive, shared), std::pair(shared, exclusive)}) {
        shared_mutex mine(a_, "/shared", {.max_hold = 3s});
        const hold h = converted(mine, from, to);
        EXPECT_TRUE(h.valid());
        EXPECT_LE(h.remaining(), 1s);
        expect_lost(h, loss_reason::max_hold_passed, 1s);
        EXPECT_TRUE(left(0, "/shared"));
    }
}

TEST_F(MaxHold, ThatPassesWithoutAServerIsALossAllTheSame) {
    mutex mine(a_, "/lock", {.max_hold = 3s});
    const hold h = held(mine);
    all_servers(&ensemble::stop_server);
    expect_lost(h, loss_reason::max_hold_passed, 3s);
}

TEST_F(MinHold, KeepsTheLockTakenAndTheHoldEmpty) {
    mutex mine(a_, "/lock", {.min_hold = 5s});
    hold h = held(mine);
    const auto granted = ensemble_.now();
    const auto next = acquire(theirs_);
    const auto here = acquire(mine);
    ensemble_.run_for(1s);
    h.release();
    EXPECT_FALSE(h.valid());
    ensemble_.run_for(3s);
    EXPECT_FALSE(next->done || here->done);
    expect_granted(next, 5s);
    EXPECT_GE(next->at - granted, 5s);
    EXPECT_LE(next->at - granted, 5s + 4 * round_trip);
    next->granted.release();
    expect_granted(here, 5s);
}

TEST_F(MinHold, AddsNothingToALongerHold) {
    mutex mine(a_, "/lock", {.min_hold = 5s});
    hold h = held(mine);
    const auto next = acquire(theirs_);
    ensemble_.run_for(6s);
    h.release();
    expect_granted(next, 4 * round_trip);
}

TEST_F(MinHold, OfASharedHoldDoesNotHoldUpItsConversion) {
    shared_mutex mine(a_, "/shared", {.min_hold = 5s});
    const auto begun = ensemble_.now();
    hold h = converted(mine, shared, exclusive);
    EXPECT_LE(ensemble_.now() - begun, 2s + 20 * round_trip);
    EXPECT_TRUE(h.valid());
    h.release();
    ensemble_.run_for(2s);
    EXPECT_EQ(in_queue("/shared"), 1U) << "it stays from the first grant on";
    ensemble_.run_for(1s);
    EXPECT_EQ(in_queue("/shared"), 0U);
}

TEST_F(MinHold, IsNotMistakenForSilentServers) {
    mutex mine(a_, "/lock", {.min_hold = 5s});
    held(mine).release();
    ensemble_.run_for(100ms);
    const auto timed = acquire(mine, 1s);
    expect_empty(acquire(mine, 0s), 100ms);
    expect_empty(timed, 1s);
}

TEST_F(MinHold, EndsWithTheSessionAndWithTheClient) {
    const lock_options long_hold{.min_hold = 1h};
    mutex mine(a_, "/lock", long_hold);
    held(mine).release();
    ensemble_.expire(a_.session_id());
    EXPECT_TRUE(left(0));
    std::optional<client> c = connected();
    std::optional<mutex> m(std::in_place, *c, "/lock", long_hold);
    held(*m).release();
    ensemble_.run_for(1s);
    EXPECT_EQ(in_queue(), 1U);
    m.reset();
    c.reset();
    EXPECT_TRUE(left(0));
    EXPECT_TRUE(held(mine).valid()) << "nobody waits for the time of a session that is gone";
}

TEST_F(HoldTimes, ThatCannotBeAreRefused) {
    EXPECT_THROW(mutex(a_, "/lock", {.max_hold = -1s}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.min_hold = -1s}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.max_hold = 1s, .min_hold = 2s}), error);
    const mutex longest(a_, "/lock", {.max_hold = std::chrono::nanoseconds::max()});
}

// ---- what is left, and the warning when it becomes little ----

class AtRisk : public LockFaults {
protected:
    /// From now on no server answers. It comes when `margin` is left, and not before.
    void expect_warning_in_an_outage(const hold& h,
                                     const std::stop_token& warned,
                                     std::chrono::nanoseconds margin) {
        ensemble_.suspend(a_.session_id());
        ensemble_.run_for(h.remaining() - margin - 1ms);
        EXPECT_FALSE(warned.stop_requested());
        ensemble_.run_for(2ms);
        EXPECT_TRUE(warned.stop_requested());
        EXPECT_TRUE(h.valid());
    }
};

TEST_F(AtRisk, WhatRemainsIsTheTimeUntilTheDeadline) {
    const hold h = held(mine_);
    ensemble_.suspend(a_.session_id());
    const auto before = h.remaining();
    EXPECT_GT(before, 0s);
    EXPECT_LE(before, timeout);
    EXPECT_TRUE(h.valid_for(before - 1ms));
    EXPECT_FALSE(h.valid_for(before));
    ensemble_.run_for(1s);
    EXPECT_EQ(h.remaining(), before - 1s);
    ensemble_.run_for(before);
    EXPECT_EQ(h.remaining(), 0s);
    EXPECT_FALSE(h.valid_for(0s));
    expect_lost(h, loss_reason::deadline_passed);
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
    const std::stop_token at_once = h.at_risk(1h);
    const std::stop_token warned = h.at_risk(2s);
    ensemble_.run_for(60s);
    EXPECT_TRUE(at_once.stop_requested()) << "less is left";
    EXPECT_FALSE(warned.stop_requested());
    expect_warning_in_an_outage(h, warned, 2s);
    EXPECT_FALSE(h.lost().stop_requested());
}

TEST_F(AtRisk, WarnsInTimeAlsoWhenAServerHasGrantedAShorterTimeout) {
    const hold h = held(mine_);
    const std::stop_token warned = h.at_risk(2s);
    ensemble_.run_for(1s);
    ensemble_.suspend(a_.session_id());
    // As if the next server had a smaller maxSessionTimeout: the deadline moves back.
    const auto core = client_core::of(a_);
    core->session_validity()->connected(core->loop().now(), core->loop().now(), 4s);
    ensemble_.resume(a_.session_id());
    ASSERT_TRUE(soon([&] { return a_.state() == connection_state::reconnected; }));
    expect_warning_in_an_outage(h, warned, 2s);
}

TEST_F(AtRisk, IsRequestedWithALossThatComesWithoutWarningAndNotByARelease) {
    for (const bool lost : {true, false}) {
        hold h = held(mine_);
        const std::stop_token warned = h.at_risk(1s);
        const std::stop_token loss = h.lost();
        if (lost) {
            ensemble_.remove(h.path());
        } else {
            h.release();
        }
        ensemble_.run_for(60s);
        EXPECT_EQ(warned.stop_requested(), lost);
        EXPECT_EQ(loss.stop_requested(), lost);
    }
}

TEST_F(AtRisk, AGuardReactsToTheLossOnce) {
    guard g(held(mine_));
    std::vector<loss_reason> told;
    g.on_loss([&](loss_reason why) { told.push_back(why); });
    g.check();
    ensemble_.remove(g.hold().path());
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
    ASSERT_TRUE(soon([&] { return g.hold().lost().stop_requested(); }));
    loss_reason told = loss_reason::none;
    g.on_loss([&](loss_reason why) { told = why; });
    EXPECT_EQ(told, loss_reason::session_expired);
}

}  // namespace
}  // namespace latchkey::test
