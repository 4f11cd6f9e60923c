#include <latchkey/curator_semaphore.hpp>
#include <latchkey/semaphore.hpp>

#include "in_time.hpp"
#include "queued.hpp"
#include "recipe_test.hpp"

#include <cstdint>
#include <future>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

// ---- what both semaphores do ----

struct name_of_semaphore {
    template <class Limited>
    static std::string GetName(int /*index*/) {
        return name_of_world(this_world()) +
               (std::is_same_v<Limited, semaphore> ? "_semaphore" : "_curator_semaphore");
    }
};

template <class Limited>
class EverySemaphore : public TwoClientsTest {
protected:
    static constexpr bool is_curators = std::is_same_v<Limited, curator_semaphore>;

    Limited of(client& c, std::uint32_t limit, lock_options how = {}) {
        return Limited(c, path_, limit, std::move(how));
    }

    const std::string queue_ = path_ + (is_curators ? "/locks" : "/queue");
    const std::string permits_ = path_ + (is_curators ? "/leases" : "/permits");
};

using both_semaphores = ::testing::Types<semaphore, curator_semaphore>;
TYPED_TEST_SUITE(EverySemaphore, both_semaphores, name_of_semaphore);

TYPED_TEST(EverySemaphore, GrantsUpToItsLimit) {
    auto first = this->of(this->a_, 3);
    auto second = this->of(this->b_, 3);
    hold one = first.acquire();
    hold two = second.acquire(2);
    EXPECT_TRUE(one.valid() && two.valid());
    EXPECT_EQ(two.paths().size(), this->is_curators ? 2U : 1U);
    EXPECT_EQ(this->world_->children(this->permits_).size(), this->is_curators ? 3U : 2U);
    EXPECT_EQ(second.available(), 0U);
    EXPECT_FALSE(first.try_acquire());
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return first.try_acquire_for(1, limit); }));
    ASSERT_TRUE(two.release_and_wait());
    EXPECT_TRUE(first.acquire(2).valid());
    EXPECT_TRUE(this->empties(this->queue_));
    one.release();
    EXPECT_TRUE(this->empties(this->permits_));
}

TYPED_TEST(EverySemaphore, WhoWantsAllWaitsForAllAndHoldsBackTheSmaller) {
    auto first = this->of(this->a_, 2);
    auto second = this->of(this->b_, 2);
    hold one = first.acquire();
    for (const bool gives_up : {true, false}) {
        std::stop_source stop;
        auto both = queued_until(stop.get_token(), first, 2U);
        auto late = queued(second, 1U);
        EXPECT_FALSE(is_granted(late, 100ms)) << "overtaken: large requests would starve";
        EXPECT_FALSE(is_granted(both));
        EXPECT_EQ(this->world_->children(this->permits_).size(), 1U);
        if (gives_up) {
            stop.request_stop();
            EXPECT_FALSE(both.get());
        } else {
            one.release();
            hold all = both.get();
            EXPECT_TRUE(all.valid());
            EXPECT_FALSE(is_granted(late, 100ms));
            all.release();
        }
        EXPECT_TRUE(late.get().release_and_wait());
    }
}

TYPED_TEST(EverySemaphore, TwoThatWantTwoOfTwoTakeTurns) {
    auto first = this->of(this->a_, 2);
    auto second = this->of(this->b_, 2);
    for (int i = 0; i < 5; ++i) {
        auto one = std::async(std::launch::async, [&] { return first.acquire(2).valid(); });
        auto two = std::async(std::launch::async, [&] { return second.acquire(2).valid(); });
        EXPECT_TRUE(one.get());
        EXPECT_TRUE(two.get());
    }
    EXPECT_TRUE(this->empties(this->permits_));
}

TYPED_TEST(EverySemaphore, WhatCanNeverBeGrantedIsAnErrorAtOnce) {
    auto s = this->of(this->a_, 3);
    const hold all = s.acquire(3);
    for (const std::uint32_t never : {4U, 0U}) {
        EXPECT_TRUE(is_invalid([&] { return s.acquire(never); })) << never;
    }
    EXPECT_TRUE(this->empties(this->queue_));
    EXPECT_TRUE(all.valid());
    EXPECT_TRUE(is_invalid([&] { return TypeParam(this->a_, "no path", 1); }));
}

TYPED_TEST(EverySemaphore, DeletedPermitIsALossOfAll) {
    auto s = this->of(this->a_, 3);
    hold h = s.acquire(3);
    const std::size_t granted = h.paths().size();
    this->world_->remove(h.paths().back());
    EXPECT_TRUE(this->is_lost(h, loss_reason::znode_deleted));
    EXPECT_EQ(this->world_->children(this->permits_).size(), granted - 1)
        << "work may still be draining";
    h.release();
    EXPECT_TRUE(this->empties(this->permits_));
}

TYPED_TEST(EverySemaphore, TellsWhoHasPermitsAndWhoWaits) {
    auto s = this->of(this->a_, 4);
    hold three = s.acquire(3);
    auto next = queued(s, 2U);
    const auto who = s.participants();
    const std::vector<std::uint32_t> expected =
        this->is_curators ? std::vector{1U, 1U, 1U, 0U} : std::vector{3U, 0U};
    ASSERT_EQ(who.size(), expected.size());
    for (std::size_t i = 0; i < who.size(); ++i) {
        EXPECT_EQ(who[i].permits, expected[i]) << i;
        EXPECT_EQ(who[i].identified.value().mode, "permit") << i;
    }
    EXPECT_EQ(s.available(), 1U);
    three.release();
    EXPECT_TRUE(next.get().valid());
}

TYPED_TEST(EverySemaphore, PermitsCarryTheDataOfTheUserAndMove) {
    auto s = this->of(this->a_, 2, {.data = "render node 7", .access = {}});
    hold moved;
    {
        hold h = s.acquire(2);
        moved = std::move(h);
    }
    EXPECT_TRUE(moved.valid());
    for (const std::string& znode : moved.paths()) {
        EXPECT_EQ(this->world_->get(znode), "render node 7");
    }
    EXPECT_EQ(s.participants().at(0).data, "render node 7");
    EXPECT_EQ(s.available(), 0U);
}

// ---- what one of them does ----

class Semaphore : public TwoClientsTest {};

TEST_P(Semaphore, LimitThatDiffersIsAnErrorThatNamesBoth) {
    semaphore s(a_, path_, 3);
    const hold h = s.acquire();
    semaphore other(a_, path_, 5);
    EXPECT_TRUE(is_invalid([&] { return other.acquire(); }, {"3", "5"}));
    EXPECT_TRUE(empties(path_ + "/queue"));
    EXPECT_TRUE(semaphore(a_, path_).acquire().valid());
}

TEST_P(Semaphore, WithoutALimitHasToBeThere) {
    semaphore s(a_, path_);
    EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(s.acquire(1, {}, ec)); }), errc::no_such_znode);
}

TEST_P(Semaphore, RaisedLimitWakesWhoWaits) {
    semaphore s(a_, path_, 1);
    const hold h = s.acquire();
    auto next = queued(s, 1U);
    EXPECT_FALSE(is_granted(next, 50ms));
    s.resize(2);
    const hold second = next.get();
    EXPECT_TRUE(second.valid());
    EXPECT_EQ(s.capacity(), 2U);
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return s.try_acquire_for(1, limit); }));
}

TEST_P(Semaphore, LoweredLimitGrantsNothingUntilWhatIsTakenFits) {
    semaphore s(a_, path_, 3);
    hold one = s.acquire();
    hold two = s.acquire();
    s.resize(1);
    EXPECT_TRUE(one.valid() && two.valid());
    EXPECT_EQ(s.available(), 0U);
    auto next = queued(s, 1U);
    one.release();
    EXPECT_FALSE(is_granted(next, 100ms));
    two.release();
    EXPECT_TRUE(next.get().valid());
}

TEST_P(Semaphore, WaiterThatNoLongerFitsAfterAResizeIsToldSo) {
    semaphore s(a_, path_, 3);
    const hold one = s.acquire();
    blocking_result<std::error_code> told;
    s.async_acquire(3, std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, const hold&) {
        told.set(ec);
    });
    ASSERT_TRUE(eventually([&] { return s.participants().size() == 2; }));
    s.resize(2);
    EXPECT_EQ(told.get(), errc::invalid_argument);
    EXPECT_TRUE(empties(path_ + "/queue"));
}

LATCHKEY_IN_THIS_WORLD(Semaphore);

class CuratorSemaphore : public TwoClientsTest {};

TEST_P(CuratorSemaphore, EveryChildOfLeasesCountsForOne) {
    curator_semaphore s(a_, path_, 2);
    EXPECT_TRUE(is_invalid([&] { return curator_semaphore(a_, path_, 0); }));
    hold one = s.acquire();
    const std::string lease = "/leases/_c_00000000-0000-0000-0000-000000000000-lease-0000000007";
    world_->create(path_ + lease);
    EXPECT_TRUE(eventually([&] { return s.available() == 0; }));
    auto waits = queued(s, 1U);
    EXPECT_FALSE(is_granted(waits, 100ms));
    world_->remove(path_ + lease);
    EXPECT_TRUE(waits.get().valid());
}

LATCHKEY_IN_THIS_WORLD(CuratorSemaphore);

}  // namespace
}  // namespace latchkey::test
