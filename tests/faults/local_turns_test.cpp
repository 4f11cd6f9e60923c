// lock_options::local_passes, local_time and retain_for.
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

class LocalTurns : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    mutex theirs_{b_, "/lock"};

    /// A lock that `m` has kept after its release, as it is when nothing is on its way any more.
    std::string retained(mutex& m) {
        hold h = held(m);
        const std::string path = h.path();
        settle();
        h.release();
        settle();
        return path;
    }

    [[nodiscard]] bool is_free() const { return in_queue() == 0; }
};

using RetainedLock = LocalTurns;

// ---- retained ----

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
    // Its create; the event to the client that keeps the lock, whose delete goes back; its event.
    EXPECT_LE(other->at - before, 2 * round_trip + 1ms);
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

// ---- passed on ----

TEST_F(LocalTurns, PassTheLockFromCallerToCallerWithoutARequest) {
    mutex mine(a_, "/lock", {.local_passes = 1});
    auto present = held(mine);
    settle();
    std::vector<std::shared_ptr<attempt>> callers;
    for (int i = 0; i < 5; ++i) {
        callers.push_back(acquire(mine));
    }
    ensemble_.run_for(1ms);
    for (const auto& next : callers) {
        EXPECT_FALSE(next->done);
        const auto token = present.token();
        present.release();
        expect_granted(next, 1ms);
        EXPECT_GT(next->granted.token(), token);
        present = std::move(next->granted);
    }
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    present.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free()) << "nobody wants it, and it is not to be retained";
}

TEST_F(LocalTurns, EndSoonOnceAnotherParticipantWaits) {
    mutex mine(a_, "/lock", {.local_passes = 2});
    auto present = held(mine);
    const auto other = acquire(theirs_);
    std::vector<std::shared_ptr<attempt>> callers;
    for (int i = 0; i < 4; ++i) {
        callers.push_back(acquire(mine));
    }
    settle();
    for (int i = 0; i < 2; ++i) {
        present.release();
        expect_granted(callers[static_cast<std::size_t>(i)], 1ms);
        present = std::move(callers[static_cast<std::size_t>(i)]->granted);
    }
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(callers[2]->done);
    other->granted.release();
    expect_granted(callers[2], 100ms);
}

TEST_F(LocalTurns, EndAfterLocalTimeOnceAnotherParticipantWaits) {
    mutex mine(a_, "/lock", {.local_passes = UINT32_MAX, .local_time = 1s});
    auto present = held(mine);
    const auto other = acquire(theirs_);
    settle();
    ensemble_.run_for(2s);
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(next->done);
}

TEST_F(LocalTurns, AreNoneWithoutTheOption) {
    mutex mine(a_, "/lock");
    auto present = held(mine);
    const auto other = acquire(theirs_);
    settle();
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(next->done);
}

TEST_F(LocalTurns, EndWithATransactionOfUnknownOutcome) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    auto present = held(mine);
    settle();
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    const std::string path = present.path();
    present.async_transact({operation::create("/late", "")},
                           [](std::error_code, const std::vector<operation_result>&) {});
    present.release();
    expect_granted(next, 1s);
    EXPECT_NE(next->granted.path(), path) << "the answer was not there when it was released";
}

TEST_F(LocalTurns, EndWithACallerThatGivesUp) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    auto present = held(mine);
    settle();
    const auto next = acquire(mine, 500ms);
    ensemble_.run_for(1s);
    EXPECT_TRUE(next->done);
    present.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(LocalTurns, CostOneListAGrantAndNoneOfItsWaiters) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    held(mine).release();
    settle();
    const hold h = held(mine);
    ensemble_.run_for(5ms);
    EXPECT_EQ(ensemble_.count().children, 2U) << "one belongs to the create";
    EXPECT_EQ(ensemble_.count().requests(), 3U);
    mutex waits(b_, "/lock", {.local_passes = 10});
    settle();
    const auto other = acquire(waits);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count(b_.session_id()).children, 1U);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 1U) << "another participant has come";
}

// ---- options ----

template <class Lock>
std::string refusal_of(const client& c, lock_options o) {
    try {
        const Lock refused(c, "/lock", std::move(o));
    } catch (const error& e) {
        return e.code() == errc::invalid_argument ? e.what() : "another error";
    }
    return "";
}

TEST_F(LocalTurns, CannotBeCombinedWithTimesOfOneHold) {
    EXPECT_NE(refusal_of<mutex>(a_, {.max_hold = 1s, .local_passes = 1}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.min_hold = 1s, .retain_for = 1s}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.retain_for = -1s}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.local_time = 1s}), "");
    EXPECT_EQ(refusal_of<recursive_mutex>(a_, {.lock_delay = 1s, .local_passes = 1}), "");
}

TEST_F(LocalTurns, AreForMutexesAndSharedMutexesOnly) {
    EXPECT_EQ(refusal_of<shared_mutex>(a_, {.retain_for = 1s}), "");
    EXPECT_THROW(static_cast<void>(semaphore(a_, "/lock", 3, {.local_passes = 1})), error);
}

}  // namespace
}  // namespace latchkey::test
