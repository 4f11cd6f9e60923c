// lock_options::retain_for.
#include "local_turns_fixture.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

class RetainedLock : public LocalTurns {
protected:
    std::optional<mutex> keeps_{std::in_place, a_, "/lock", lock_options{.retain_for = 30s}};
};

TEST_F(RetainedLock, IsTakenAgainWithoutARequest) {
    hold first = held(*keeps_);
    settle();
    const auto token = first.token();
    const auto path = first.path();
    first.release();
    ensemble_.run_for(1ms);
    const auto before = ensemble_.now();
    const auto again = acquire(*keeps_);
    expect_granted(again);
    EXPECT_EQ(again->at, before) << "no time passes";
    EXPECT_EQ(again->granted.path(), path);
    EXPECT_GT(again->granted.token(), token);
    EXPECT_GT(again->granted.token().value(), token.value());
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U);
}

TEST_F(RetainedLock, IsAsGoodAsAnyHold) {
    retained(*keeps_);
    hold h = held(*keeps_);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(error_of_transaction(h, operation::create("/written", "under the lock")));
    ensemble_.remove(h.path());
    expect_lost(h, loss_reason::znode_deleted, 100ms);
}

// On the callback thread a transaction would wait for itself: it is not begun.
TEST_F(RetainedLock, IsKeptAfterATransactionThatWasNotBegun) {
    std::string path;
    keeps_->async_acquire({}, [&](std::error_code, hold h) {
        path = h.path();
        std::error_code why;
        h.transact({operation::create("/written", "")}, why);
        EXPECT_EQ(why, errc::would_deadlock);
        h.transact_once("/marker", {operation::create("/written", "")}, why);
        EXPECT_EQ(why, errc::would_deadlock);
    });
    EXPECT_TRUE(ensemble_.run_until([&] { return !path.empty(); }, 10s));
    settle();
    EXPECT_EQ(held(*keeps_).path(), path);
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
    held(theirs_).release();  // b knows the directory
    retained(*keeps_);
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
    retained(*keeps_);
    hold h = held(*keeps_);
    const auto other = acquire(theirs_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(other->done);
    h.release();
    expect_granted(other, 1s);
}

TEST_F(RetainedLock, IsGivenUpWithWhatItNeeds) {
    std::string path;
    const std::vector<named_step> ends{
        {"a request for it", [&] { ensemble_.set(path, "__REVOKE__"); }},
        {"its connection", [&] { ensemble_.cut(a_.session_id()); }},
        {"its object", [&] { keeps_.reset(); }},
        {"its client", [&] { a_.close(); }}};
    for (const named_step& end : ends) {
        SCOPED_TRACE(end.name);
        if (!keeps_) {
            keeps_.emplace(a_, "/lock", lock_options{.retain_for = 30s});
        }
        path = retained(*keeps_);
        EXPECT_FALSE(is_free());
        end.happens();
        ensemble_.run_for(2s);
        EXPECT_TRUE(is_free());
    }
}

TEST_F(RetainedLock, IsGivenUpByReleaseAndWait) {
    hold h = held(*keeps_);
    settle();
    EXPECT_FALSE(h.release_and_wait()) << "nothing runs meanwhile";
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsNoneAfterItsZnodeWasDeleted) {
    const std::string path = retained(*keeps_);
    ensemble_.remove(path);
    ensemble_.run_for(100ms);
    EXPECT_NE(held(*keeps_).path(), path);
}

TEST_F(RetainedLock, IsOneOfAtMostSoManyOfAClient) {
    client few = connected({.session_timeout = timeout, .max_retained = 2});
    std::vector<std::unique_ptr<mutex>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<mutex>(
            few, "/lock" + std::to_string(i), lock_options{.retain_for = 30s}));
        warm_up(*all.back());
        EXPECT_EQ(in_queue("/lock" + std::to_string(i)), i < 2 ? 1U : 0U);
    }
    all.front().reset();
    ensemble_.run_for(100ms);
    warm_up(*all.back());
    EXPECT_EQ(in_queue("/lock2"), 1U);
}

TEST_F(RetainedLock, IsTakenAgainAThousandTimesAndThenByAnotherZnode) {
    const std::string path = retained(*keeps_);
    fencing_token last;
    std::string now;
    for (std::uint32_t i = 0; i < fencing_token::turns; ++i) {
        const hold h = held(*keeps_);
        ASSERT_GT(h.token(), last);
        last = h.token();
        now = h.path();
    }
    EXPECT_NE(now, path);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(RetainedLock, IsTakenByATryTooAndByOneAtATime) {
    retained(*keeps_);
    const auto first = acquire(*keeps_, 0s);
    expect_granted(first);
    expect_empty(acquire(*keeps_, 0s), 1s);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U);
}

TEST_F(RetainedLock, IsTakenByATryBeforeItIsKnownWhetherAnotherWaits) {
    held(*keeps_).release();
    expect_granted(acquire(*keeps_, 0s), 1s);
}

TEST_F(RetainedLock, IsRefusedToATryWhileAnotherHolds) {
    held(*keeps_).release();
    const hold other = held(theirs_);
    expect_empty(acquire(*keeps_, 0s), 1s);
}

TEST_F(RetainedLock, IsGivenUpWithAnObjectThatEndedBeforeTheGrant) {
    const auto granted = acquire(*keeps_);
    keeps_.reset();
    expect_granted(granted);
    settle();
    granted->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpIfTheServersRefuseToSayWhetherAnotherWaits) {
    hold h = held(*keeps_);
    ensemble_.refuse_next(op::children, no_auth, a_.session_id(), 1000);
    settle();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free()) << "the client cannot learn that another participant has come";
}

TEST_F(RetainedLock, CountsAlsoIfItWasToBePassedOn) {
    client none = connected({.session_timeout = timeout, .max_retained = 0});
    mutex mine(none, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    std::stop_source leaves;
    const auto next = acquire(mine, for_ever, {.stop = leaves.get_token()});
    settle();
    leaves.request_stop();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(next->done);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, LeavesNoMemoryBehind) {
    client c = connected();
    const std::weak_ptr<client_core> core = client_core::of(c);
    keeps_.emplace(c, "/lock", lock_options{.retain_for = 30s});
    retained(*keeps_);
    keeps_.reset();
    c = connected();
    ensemble_.run_for(5s);
    EXPECT_TRUE(core.expired());
}

}  // namespace
}  // namespace latchkey::test
