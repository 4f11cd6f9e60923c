#include <latchkey/multi_mutex.hpp>

#include "stepped_test.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

constexpr std::size_t eight = 8;

std::vector<std::string> paths(std::size_t count) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back("/all/lock-" + std::to_string(i));
    }
    return all;
}

/// What multi_mutex.hpp says of requests and round trips, counted by the servers.
class MultiCost : public SteppedTest {
protected:
    [[nodiscard]] std::int64_t czxid(const std::string& path) const {
        const auto znode = ensemble_.get(path);
        return znode ? znode->czxid : 0;
    }

    client a_ = connected();
    client b_ = connected();
    multi_mutex mine_{a_, paths(eight)};
    multi_mutex theirs_{b_, paths(eight)};
};

TEST_F(MultiCost, EightPathsAreGrantedInOneRoundTripAndOneByOneInEight) {
    held(mine_).release();
    settle();
    auto before = ensemble_.now();
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, round_trip);
    testing::counters n = ensemble_.count();
    EXPECT_EQ(n.multis, 1U);
    EXPECT_EQ(n.children, eight);
    EXPECT_EQ(n.gets, 1U);
    EXPECT_EQ(n.requests(), eight + 2);
    for (const std::string& path : a->granted.paths()) {
        EXPECT_EQ(czxid(path), a->granted.token().zxid) << "with its token";
    }
    a->granted.release();

    std::vector<std::unique_ptr<mutex>> singles;
    for (const std::string& path : paths(eight)) {
        singles.push_back(std::make_unique<mutex>(a_, path));
        held(*singles.back()).release();
    }
    settle();
    before = ensemble_.now();
    std::vector<hold> holds;
    for (const auto& m : singles) {
        holds.push_back(held(*m));
    }
    EXPECT_EQ(ensemble_.now() - before, int(eight) * round_trip);
    n = ensemble_.count();
    EXPECT_EQ(n.creates + n.children, 2 * eight);
}

TEST_F(MultiCost, FirstUseIsOneRoundTripToo) {
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, round_trip);
    EXPECT_EQ(ensemble_.count().creates, 2 * eight);  // two levels each
    EXPECT_EQ(ensemble_.count().requests(), 3 * eight + 2);
}

TEST_F(MultiCost, ReleaseIsOneRequestAndAShortHoldOwesNoOther) {
    held(mine_).release();
    settle();
    hold h = held(mine_);
    ensemble_.reset_counters();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    for (const std::string& path : paths(eight)) {
        EXPECT_TRUE(ensemble_.children(path).empty());
    }
}

TEST_F(MultiCost, LongerHoldWatchesEachOfItsZnodes) {
    const hold h = held(mine_);
    settle();
    EXPECT_EQ(ensemble_.open_watches(), eight);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(MultiCost, HandOffNeedsNoListAndTheWaiterKnowsItsToken) {
    held(theirs_).release();
    hold h = held(mine_);
    settle();
    const auto waiter = acquire(theirs_);
    ensemble_.run_for(2 * round_trip);
    EXPECT_EQ(ensemble_.count(b_.session_id()).requests(), 1 + 1 + eight + 2 * eight);
    EXPECT_EQ(ensemble_.count(b_.session_id()).watches_set, 2 * eight);
    ensemble_.run_for(100ms);
    ensemble_.reset_counters();
    const auto before = ensemble_.now();
    const auto earlier = h.token();
    h.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return waiter->done; }, 1s));
    EXPECT_EQ(waiter->at - before, 2 * one_way);  // the deletes there, their events back
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_GT(waiter->granted.token(), earlier);
    for (const std::string& path : waiter->granted.paths()) {
        EXPECT_EQ(czxid(path), waiter->granted.token().zxid);
    }
}

TEST_F(MultiCost, TryOnAHeldPathIsOneRoundTripOfListsAndWritesNothing) {
    mutex one(b_, paths(eight)[5]);
    const hold h = held(one);
    settle();
    const auto before = ensemble_.now();
    const auto t = acquire(mine_, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return t->done; }, 1s));
    EXPECT_FALSE(t->granted);
    EXPECT_FALSE(t->ec);
    EXPECT_EQ(t->at - before, round_trip);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, eight);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), eight);
}

TEST_F(MultiCost, HeartbeatsAreThoseOfOneHold) {
    const hold h = held(mine_);
    settle();
    ensemble_.run_for(24s);
    EXPECT_GE(ensemble_.count().checks, 13U);
    EXPECT_LE(ensemble_.count().checks, 14U);
    EXPECT_TRUE(h.valid());
}

TEST_F(MultiCost, TransactionIsOneRequest) {
    hold h = held(mine_);
    settle();
    bool done = false;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code ec, const auto&) { done = !ec; });
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 1s));
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_TRUE(ensemble_.exists("/effect"));
}

TEST_F(MultiCost, TokenThatTheFirstRoundTripDoesNotBringTakesOneMore) {
    held(mine_).release();
    settle();
    constexpr int no_auth = -102;
    ensemble_.refuse_next(ensemble::request_kind::get, no_auth, a_.session_id());
    const auto before = ensemble_.now();
    const auto a = acquire(mine_);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, 2 * round_trip);
    EXPECT_EQ(ensemble_.count().requests(), eight + 3);
    EXPECT_EQ(a->granted.token().zxid, czxid(a->granted.path()));
}

// Whoever joins one of the queues at about the same time: before it, between its creation and its
// lists, or after.
TEST_F(MultiCost, TokenIsNotBelowItsCreationAndBelowThoseThatJoinLater) {
    mutex single(b_, paths(eight)[3]);
    held(mine_).release();
    held(single).release();
    int single_first = 0;
    int exact = 0;
    constexpr auto step = 100us;
    constexpr int offsets = 60;
    for (int i = -offsets; i <= offsets; ++i) {
        settle();
        const auto first = i < 0 ? acquire(mine_) : acquire(single);
        ensemble_.run_for((i < 0 ? -i : i) * step);
        const auto second = i < 0 ? acquire(single) : acquire(mine_);
        const auto& all = i < 0 ? first : second;
        const auto& one = i < 0 ? second : first;
        ASSERT_TRUE(ensemble_.run_until([&] { return all->done || one->done; }, 10s));
        const bool single_was_first = one->done;
        single_first += single_was_first ? 1 : 0;
        const auto earlier = (single_was_first ? one : all)->granted.token();
        (single_was_first ? one : all)->granted.release();
        ASSERT_TRUE(ensemble_.run_until([&] { return all->done && one->done; }, 10s));
        EXPECT_GT((single_was_first ? all : one)->granted.token(), earlier) << i;
        if (single_was_first) {
            const std::int64_t created = czxid(all->granted.path());
            EXPECT_GE(all->granted.token().zxid, created) << i;
            exact += all->granted.token().zxid == created ? 1 : 0;
        }
        all->granted.release();
        one->granted.release();
    }
    EXPECT_GT(single_first, offsets / 2);
    EXPECT_GT(exact, single_first / 2);
}

}  // namespace
}  // namespace latchkey::test
