#include <latchkey/curator_semaphore.hpp>

#include "in_time.hpp"
#include "queued.hpp"
#include "recipe_test.hpp"

#include <future>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class CuratorSemaphore : public RecipeTest {
protected:
    std::size_t leases() { return world_->children(path_ + "/leases").size(); }

    client a_ = connect();
    client b_ = connect();
};

TEST_P(CuratorSemaphore, GrantsUpToItsLimit) {
    curator_semaphore first(a_, path_, 3);
    curator_semaphore second(b_, path_, 3);
    hold one = first.acquire();
    hold two = second.acquire(2);
    EXPECT_TRUE(one.valid() && two.valid());
    EXPECT_EQ(two.paths().size(), 2U);
    EXPECT_EQ(leases(), 3U);
    EXPECT_EQ(first.available(), 0U);
    EXPECT_FALSE(first.try_acquire());
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return second.try_acquire_for(1, limit); }));
    ASSERT_TRUE(two.release_and_wait());
    EXPECT_TRUE(first.acquire(2).valid());
    EXPECT_TRUE(empties(path_ + "/locks"));
    one.release();
    EXPECT_TRUE(empties(path_ + "/leases"));
}

TEST_P(CuratorSemaphore, EveryChildOfLeasesCountsForOne) {
    curator_semaphore s(a_, path_, 2);
    hold one = s.acquire();
    world_->create(path_ + "/leases/_c_00000000-0000-0000-0000-000000000000-lease-0000000007");
    EXPECT_TRUE(eventually([&] { return s.available() == 0; }));
    auto waits = queued(s, 1U);
    EXPECT_FALSE(is_granted(waits, 100ms));
    world_->remove(path_ + "/leases/_c_00000000-0000-0000-0000-000000000000-lease-0000000007");
    EXPECT_TRUE(waits.get().valid());
}

TEST_P(CuratorSemaphore, WhoWaitsHasNoPermitYetAndHoldsBackTheSmaller) {
    curator_semaphore first(a_, path_, 2);
    curator_semaphore second(b_, path_, 2);
    hold one = first.acquire();
    std::stop_source give_up;
    auto both = queued_until(give_up.get_token(), first, 2U);
    auto late = queued(second, 1U);
    EXPECT_FALSE(is_granted(late, 100ms)) << "overtaken: large requests would starve";
    EXPECT_EQ(leases(), 1U);
    give_up.request_stop();
    EXPECT_FALSE(both.get());
    EXPECT_TRUE(late.get().valid());
}

TEST_P(CuratorSemaphore, TwoThatWantTwoOfTwoTakeTurns) {
    curator_semaphore first(a_, path_, 2);
    curator_semaphore second(b_, path_, 2);
    for (int i = 0; i < 5; ++i) {
        auto one = std::async(std::launch::async, [&] { return first.acquire(2).valid(); });
        auto two = std::async(std::launch::async, [&] { return second.acquire(2).valid(); });
        EXPECT_TRUE(one.get());
        EXPECT_TRUE(two.get());
    }
    EXPECT_TRUE(empties(path_ + "/leases"));
}

TEST_P(CuratorSemaphore, HoldOfSeveralPermitsIsLostWithAnyOfThem) {
    curator_semaphore s(a_, path_, 3);
    hold h = s.acquire(3);
    world_->remove(h.paths().at(1));
    EXPECT_TRUE(eventually([&] { return h.why_lost() == loss_reason::znode_deleted; }));
    EXPECT_EQ(leases(), 2U) << "work may still be draining";
    h.release();
    EXPECT_TRUE(empties(path_ + "/leases"));
}

TEST_P(CuratorSemaphore, PermitsOfALostSessionAreFree) {
    curator_semaphore first(a_, path_, 2);
    curator_semaphore second(b_, path_, 2);
    const hold both = first.acquire(2);
    auto next = queued(second, 2U);
    world_->expire(a_.session_id());
    EXPECT_TRUE(next.get().valid());
    EXPECT_TRUE(eventually([&] { return !both.valid(); }));
}

TEST_P(CuratorSemaphore, WhatCanNeverBeGrantedIsAnErrorAtOnce) {
    curator_semaphore s(a_, path_, 2);
    EXPECT_THROW(static_cast<void>(s.acquire(3)), error);
    EXPECT_THROW(static_cast<void>(s.acquire(0)), error);
    EXPECT_THROW(curator_semaphore(a_, path_, 0), error);
    EXPECT_THROW(curator_semaphore(a_, "no path", 1), error);
    EXPECT_EQ(s.available(), 2U);
    EXPECT_TRUE(s.participants().empty());
}

TEST_P(CuratorSemaphore, TellsWhoHasPermitsAndWhoWaits) {
    curator_semaphore s(a_, path_, 2);
    hold both = s.acquire(2);
    auto next = queued(s, 1U);
    const auto found = s.participants();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].permits, 1U);
    EXPECT_EQ(found[1].permits, 1U);
    EXPECT_EQ(found[2].permits, 0U);
    EXPECT_EQ(found[2].identified.value().mode, "permit");
    both.release();
    EXPECT_TRUE(next.get().valid());
}

TEST_P(CuratorSemaphore, PermitsCarryTheDataOfTheUserAndMove) {
    curator_semaphore s(a_, path_, 2, {.data = "render node 7", .access = {}});
    hold moved;
    {
        hold h = s.acquire(2);
        moved = std::move(h);
    }
    EXPECT_TRUE(moved.valid());
    for (const std::string& znode : moved.paths()) {
        EXPECT_EQ(world_->get(znode), "render node 7");
    }
    EXPECT_EQ(s.participants().at(0).data, "render node 7");
    EXPECT_EQ(s.available(), 0U);
}

LATCHKEY_IN_THIS_WORLD(CuratorSemaphore);

}  // namespace
}  // namespace latchkey::test
