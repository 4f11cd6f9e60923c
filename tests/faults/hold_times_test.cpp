// lock_options::max_hold and min_hold.
#include <latchkey/mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <string>
#include <utility>

namespace latchkey::test {
namespace {

class HoldTimes : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    hold upgraded(shared_mutex& m);

    mutex theirs_{b_, "/lock"};
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
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 1s));
    EXPECT_GE(ensemble_.now() - granted, 3s);
    EXPECT_LE(ensemble_.now() - granted, 3s + 4 * round_trip);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::max_hold_passed);
    EXPECT_TRUE(h.lost().stop_requested());
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
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST_F(MaxHold, IsKeptByAConvertedHold) {
    shared_mutex mine(a_, "/shared", {.max_hold = 3s});
    hold h;
    bool done = false;
    const auto take = [&](std::error_code, hold taken) {
        h = std::move(taken);
        done = true;
    };
    mine.async_acquire(lock_mode::exclusive, {}, take);
    ASSERT_TRUE(ensemble_.run_until([&] { return std::exchange(done, false); }, 10s));
    ensemble_.run_for(2s);
    mine.async_convert(std::move(h), lock_mode::shared, {}, take);
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
    EXPECT_TRUE(h.valid());
    ensemble_.run_for(1s);
    EXPECT_EQ(h.why_lost(), loss_reason::max_hold_passed);
    EXPECT_TRUE(ensemble_.children("/shared").empty());
}

/// A shared hold that becomes exclusive, and how long that took.
hold HoldTimes::upgraded(shared_mutex& m) {
    hold h;
    bool done = false;
    const auto take = [&](std::error_code ec, hold taken) {
        EXPECT_FALSE(ec) << ec.message();
        h = std::move(taken);
        done = true;
    };
    m.async_acquire(lock_mode::shared, {}, take);
    EXPECT_TRUE(ensemble_.run_until([&] { return std::exchange(done, false); }, 10s));
    ensemble_.run_for(2s);
    m.async_convert(std::move(h), lock_mode::exclusive, {}, take);
    EXPECT_TRUE(ensemble_.run_until([&] { return done; }, 60s));
    return h;
}

TEST_F(MaxHold, IsKeptByASharedHoldThatBecomesExclusive) {
    shared_mutex mine(a_, "/shared", {.max_hold = 3s});
    const hold h = upgraded(mine);
    EXPECT_TRUE(h.mode() == lock_mode::exclusive && h.valid());
    EXPECT_LE(h.remaining(), 1s);
    ensemble_.run_for(1s);
    EXPECT_EQ(h.why_lost(), loss_reason::max_hold_passed);
    EXPECT_TRUE(ensemble_.children("/shared").empty());
}

TEST_F(MaxHold, ThatPassesWithoutAServerIsALossAllTheSame) {
    mutex mine(a_, "/lock", {.max_hold = 3s});
    hold h = held(mine);
    for (int i = 0; i < 3; ++i) {
        ensemble_.stop_server(i);
    }
    ensemble_.run_for(3s);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::max_hold_passed);
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
    EXPECT_FALSE(next->done);
    EXPECT_FALSE(here->done);
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 5s));
    EXPECT_GE(ensemble_.now() - granted, 5s);
    EXPECT_LE(ensemble_.now() - granted, 5s + 4 * round_trip);
    next->granted.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return here->done; }, 5s));
    EXPECT_TRUE(here->granted.valid());
}

TEST_F(MinHold, AddsNothingToALongerHold) {
    mutex mine(a_, "/lock", {.min_hold = 5s});
    hold h = held(mine);
    const auto next = acquire(theirs_);
    ensemble_.run_for(6s);
    h.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 4 * round_trip));
}

TEST_F(MinHold, OfASharedHoldDoesNotHoldUpItsConversion) {
    shared_mutex mine(a_, "/shared", {.min_hold = 5s});
    const auto begun = ensemble_.now();
    hold h = upgraded(mine);
    EXPECT_LE(ensemble_.now() - begun, 2s + 20 * round_trip);
    EXPECT_TRUE(h.mode() == lock_mode::exclusive && h.valid());
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
    const auto at_once = acquire(mine, 0s);
    const auto timed = acquire(mine, 1s);
    ensemble_.run_for(100ms);
    EXPECT_TRUE(at_once->done);
    EXPECT_FALSE(at_once->ec) << at_once->ec.message();
    ensemble_.run_for(1s);
    EXPECT_TRUE(timed->done);
    EXPECT_FALSE(timed->ec) << timed->ec.message();
}

TEST_F(MinHold, EndsWithTheClient) {
    {
        client c = connected();
        mutex mine(c, "/lock", {.min_hold = 1h});
        hold h = held(mine);
        h.release();
        ensemble_.run_for(1s);
        EXPECT_FALSE(ensemble_.children("/lock").empty());
    }
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST_F(MinHold, EndsWithTheSession) {
    mutex mine(a_, "/lock", {.min_hold = 1h});
    held(mine).release();
    ensemble_.expire(a_.session_id());
    ensemble_.run_for(1s);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
    EXPECT_TRUE(held(mine).valid()) << "nobody waits for the time of a session that is gone";
}

TEST_F(HoldTimes, ThatCannotBeAreRefused) {
    EXPECT_THROW(mutex(a_, "/lock", {.max_hold = -1s}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.min_hold = -1s}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.max_hold = 1s, .min_hold = 2s}), error);
    const mutex longest(a_, "/lock", {.max_hold = std::chrono::nanoseconds::max()});
}

}  // namespace
}  // namespace latchkey::test
