// lock_options::retain_for.
#include "client/client_core.hpp"
#include "local_turns_fixture.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

using RetainedLock = LocalTurns;

TEST_F(RetainedLock, IsTakenAgainWithoutARequest) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold first = held(mine);
    settle();
    const auto token = first.token();
    const auto path = first.path();
    first.release();
    ensemble_.run_for(1ms);
    const auto before = ensemble_.now();
    const auto again = acquire(mine);
    expect_granted(again);
    EXPECT_EQ(again->at, before) << "no time passes";
    EXPECT_EQ(again->granted.path(), path);
    EXPECT_GT(again->granted.token(), token);
    EXPECT_GT(again->granted.token().value(), token.value());
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(RetainedLock, IsAsGoodAsAnyHold) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    hold h = held(mine);
    EXPECT_TRUE(h.valid());
    bool done = false;
    h.async_transact({operation::create("/written", "under the lock")},
                     [&](std::error_code ec, const std::vector<operation_result>&) {
                         EXPECT_FALSE(ec) << ec.message();
                         done = true;
                     });
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 1s));
    ensemble_.remove(h.path());
    ensemble_.run_for(100ms);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_F(RetainedLock, IsGivenUpAfterItsTime) {
    mutex mine(a_, "/lock", {.retain_for = 5s});
    retained(mine);
    ensemble_.run_for(4s);
    EXPECT_FALSE(is_free());
    held(mine).release();
    ensemble_.run_for(4900ms);
    EXPECT_FALSE(is_free()) << "it counts from the last release";
    ensemble_.run_for(200ms);
    EXPECT_TRUE(is_free());
    EXPECT_TRUE(held(mine).valid()) << "the object goes on";
}

TEST_F(RetainedLock, GoesToAnotherParticipantAfterOneNotificationAndOneDelete) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(theirs_).release();  // b knows the directory
    retained(mine);
    const auto before = ensemble_.now();
    const auto other = acquire(theirs_);
    expect_granted(other);
    // Its create; the event to the client that keeps the lock, whose delete goes back; its event,
    // or a list if the delete comes before the watch.
    EXPECT_LE(other->at - before, 3 * round_trip);
    EXPECT_EQ(ensemble_.count(a_.session_id()).removes, 1U);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(RetainedLock, StaysWithAProgramThatUsesItUntilTheHoldEnds) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    hold h = held(mine);
    const auto other = acquire(theirs_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(other->done);
    h.release();
    expect_granted(other, 1s);
}

TEST_F(RetainedLock, IsGivenUpWithItsObject) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    retained(*mine);
    mine.reset();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpByReleaseAndWait) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    settle();
    EXPECT_FALSE(h.release_and_wait()) << "nothing runs meanwhile";
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpByARequestForIt) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    ensemble_.set(path, "__REVOKE__");
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpWithItsConnection) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(2s);
    EXPECT_TRUE(is_free());
    EXPECT_TRUE(held(mine).valid());
}

TEST_F(RetainedLock, IsGivenUpWithItsClient) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    a_.close();
    ensemble_.run_for(1s);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsNoneAfterItsZnodeWasDeleted) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    ensemble_.remove(path);
    ensemble_.run_for(100ms);
    EXPECT_NE(held(mine).path(), path);
}

TEST_F(RetainedLock, IsOneOfAtMostSoManyOfAClient) {
    client few = connected({.session_timeout = 12s, .max_retained = 2});
    std::vector<std::unique_ptr<mutex>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<mutex>(
            few, "/lock" + std::to_string(i), lock_options{.retain_for = 30s}));
        held(*all.back()).release();
        settle();
    }
    EXPECT_EQ(in_queue("/lock0"), 1U);
    EXPECT_EQ(in_queue("/lock1"), 1U);
    EXPECT_EQ(in_queue("/lock2"), 0U);
    all.front().reset();
    ensemble_.run_for(100ms);
    held(*all.back()).release();
    settle();
    EXPECT_EQ(in_queue("/lock2"), 1U);
}

TEST_F(RetainedLock, IsTakenAgainAThousandTimesAndThenByAnotherZnode) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    fencing_token last;
    std::string now;
    for (std::uint32_t i = 0; i < fencing_token::turns; ++i) {
        const hold h = held(mine);
        ASSERT_GT(h.token(), last);
        last = h.token();
        now = h.path();
    }
    EXPECT_NE(now, path);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(RetainedLock, IsTakenByATryToo) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    const auto first = acquire(mine, 0s);
    expect_granted(first);
    const auto second = acquire(mine, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return second->done; }, 1s));
    EXPECT_FALSE(second->granted);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(RetainedLock, IsTakenByATryBeforeItIsKnownWhetherAnotherWaits) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    const auto next = acquire(mine, 0s);
    expect_granted(next, 1s);
}

TEST_F(RetainedLock, IsRefusedToATryWhileAnotherHolds) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    hold other = held(theirs_);
    const auto next = acquire(mine, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 1s));
    EXPECT_FALSE(next->ec) << next->ec.message();
    EXPECT_FALSE(next->granted);
}

TEST_F(RetainedLock, IsGivenUpWithAnObjectThatEndedBeforeTheGrant) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    const auto granted = acquire(*mine);
    mine.reset();
    expect_granted(granted);
    settle();
    granted->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpIfTheServersRefuseToSayWhetherAnotherWaits) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    constexpr int not_allowed = -102;
    ensemble_.refuse_next(ensemble::request_kind::children, not_allowed, a_.session_id(), 1000);
    settle();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free()) << "the client cannot learn that another participant has come";
}

TEST_F(RetainedLock, CountsAlsoIfItWasToBePassedOn) {
    client none = connected({.session_timeout = 12s, .max_retained = 0});
    mutex mine(none, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    std::stop_source leaves;
    const auto next = acquire(mine, std::chrono::nanoseconds::max(), {.stop = leaves.get_token()});
    settle();
    leaves.request_stop();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(next->done);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, LeavesNoMemoryBehind) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    retained(*mine);
    const std::weak_ptr<client_core> core = client_core::of(a_);
    mine.reset();
    a_ = connected();
    ensemble_.run_for(5s);
    EXPECT_TRUE(core.expired());
}

}  // namespace
}  // namespace latchkey::test
