#include <latchkey/semaphore.hpp>

#include "in_time.hpp"
#include "queued.hpp"
#include "recipe_test.hpp"

#include <future>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class Semaphore : public RecipeTest {};

TEST_P(Semaphore, GrantsUpToItsLimit) {
    client a = connect();
    client b = connect();
    semaphore first(a, path_, 3);
    semaphore second(b, path_, 3);
    hold one = first.acquire();
    hold two = second.acquire(2);
    EXPECT_TRUE(one.valid() && two.valid());
    EXPECT_EQ(second.available(), 0U);
    EXPECT_FALSE(first.try_acquire());
    EXPECT_FALSE(in_time(50ms, [&](auto limit) { return first.try_acquire_for(1, limit); }));
    two.release();
    hold three = first.acquire(2);
    EXPECT_TRUE(three.valid());
    EXPECT_EQ(world_->children(path_ + "/queue").size(), 0U);
    EXPECT_EQ(world_->children(path_ + "/permits").size(), 2U);
}

TEST_P(Semaphore, WhoWantsAllWaitsForAllAndHoldsBackTheSmaller) {
    client c = connect();
    semaphore s(c, path_, 2);
    hold one = s.acquire();
    auto both = queued(s, 2U);
    auto late = queued(s, 1U);
    EXPECT_FALSE(is_granted(late, 100ms)) << "overtaken: large requests would starve";
    EXPECT_FALSE(is_granted(both));
    one.release();
    hold all = both.get();
    EXPECT_TRUE(all.valid());
    EXPECT_FALSE(is_granted(late, 100ms));
    all.release();
    EXPECT_TRUE(late.get().valid());
}

TEST_P(Semaphore, TwoThatWantTwoOfTwoTakeTurns) {
    client a = connect();
    client b = connect();
    semaphore first(a, path_, 2);
    semaphore second(b, path_, 2);
    for (int i = 0; i < 5; ++i) {
        auto one = std::async(std::launch::async, [&] { return first.acquire(2).valid(); });
        auto two = std::async(std::launch::async, [&] { return second.acquire(2).valid(); });
        EXPECT_TRUE(one.get());
        EXPECT_TRUE(two.get());
    }
    EXPECT_TRUE(empties(path_ + "/permits"));
}

TEST_P(Semaphore, LimitThatDiffersIsAnErrorThatNamesBoth) {
    client c = connect();
    semaphore s(c, path_, 3);
    const hold h = s.acquire();
    semaphore other(c, path_, 5);
    try {
        const hold never = other.acquire();
        ADD_FAILURE() << "granted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::invalid_argument);
        const std::string what = e.what();
        EXPECT_NE(what.find('3'), std::string::npos) << what;
        EXPECT_NE(what.find('5'), std::string::npos) << what;
    }
    EXPECT_TRUE(empties(path_ + "/queue"));
    EXPECT_TRUE(semaphore(c, path_).acquire().valid());
}

TEST_P(Semaphore, MorePermitsThanThereCanBeAreAnErrorAtOnce) {
    client c = connect();
    semaphore s(c, path_, 3);
    const hold h = s.acquire(3);
    std::error_code ec;
    EXPECT_FALSE(s.acquire(4, {}, ec));
    EXPECT_EQ(ec, errc::invalid_argument);
    EXPECT_THROW(static_cast<void>(s.acquire(0)), error);
    EXPECT_TRUE(empties(path_ + "/queue"));
}

TEST_P(Semaphore, WithoutALimitHasToBeThere) {
    client c = connect();
    semaphore s(c, path_);
    std::error_code ec;
    EXPECT_FALSE(s.acquire(1, {}, ec));
    EXPECT_EQ(ec, errc::no_such_znode);
}

TEST_P(Semaphore, RaisedLimitWakesWhoWaits) {
    client c = connect();
    semaphore s(c, path_, 1);
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
    client c = connect();
    semaphore s(c, path_, 3);
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
    client c = connect();
    semaphore s(c, path_, 3);
    const hold one = s.acquire();
    blocking_result<std::error_code> told;
    blocking_result<bool> reserved;
    s.async_acquire(3,
                    std::chrono::nanoseconds::max(),
                    {.stop = {}, .reserved = [&](const queue_position&) { reserved.set(true); }},
                    [&](std::error_code ec, const hold&) { told.set(ec); });
    ASSERT_TRUE(reserved.get_for(30s));
    ASSERT_TRUE(eventually([&] { return s.participants().size() == 2; }));
    s.resize(2);
    EXPECT_EQ(told.get(), errc::invalid_argument);
    EXPECT_TRUE(empties(path_ + "/queue"));
}

TEST_P(Semaphore, DeletedPermitIsALoss) {
    client c = connect();
    semaphore s(c, path_, 1);
    const hold h = s.acquire();
    world_->remove(h.path());
    EXPECT_TRUE(eventually([&] { return !h.valid(); }));
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_P(Semaphore, LossOfTheSessionGivesThePermitsBack) {
    client a = connect();
    client b = connect();
    semaphore mine(a, path_, 1);
    semaphore other(b, path_, 1);
    const hold h = mine.acquire();
    auto next = queued(other, 1U);
    world_->expire(a.session_id());
    EXPECT_TRUE(next.get().valid());
    EXPECT_TRUE(eventually([&] { return !h.valid(); }));
}

TEST_P(Semaphore, TellsWhoHasPermitsAndWhoWaits) {
    client c = connect();
    semaphore s(c, path_, 4);
    hold h = s.acquire(3);
    auto next = queued(s, 2U);
    const auto who = s.participants();
    ASSERT_EQ(who.size(), 2U);
    EXPECT_EQ(who[0].permits, 3U);
    EXPECT_EQ(who[0].identified->mode, "permit");
    EXPECT_EQ(who[1].permits, 0U);
    EXPECT_EQ(s.available(), 1U);
    h.release();
    EXPECT_TRUE(next.get().valid());
}

TEST_P(Semaphore, CancelledWaiterLeavesNothing) {
    client c = connect();
    semaphore s(c, path_, 1);
    const hold h = s.acquire();
    EXPECT_FALSE(in_time(100ms, [&](auto limit) { return s.try_acquire_for(1, limit); }));
    EXPECT_TRUE(empties(path_ + "/queue"));
    EXPECT_EQ(world_->children(path_ + "/permits").size(), 1U);
}

TEST_P(Semaphore, PermitsCarryTheDataOfTheUserAndMove) {
    client c = connect();
    semaphore s(c, path_, 2, {.data = "render node 7", .access = {}});
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

LATCHKEY_IN_THIS_WORLD(Semaphore);

}  // namespace
}  // namespace latchkey::test
