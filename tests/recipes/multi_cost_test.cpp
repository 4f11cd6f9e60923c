#include <latchkey/multi_mutex.hpp>

#include "cost_test.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

constexpr std::size_t eight = 8;

/// "/all/lock-0", "/all/lock-1", ...
std::vector<std::string> eight_paths() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < eight; ++i) {
        all.push_back("/all/lock-" + std::to_string(i));
    }
    return all;
}

/// What multi_mutex.hpp says of requests and round trips.
class MultiCost : public CostTest {
protected:
    [[nodiscard]] std::int64_t czxid(const std::string& path) const {
        const auto znode = ensemble_.get(path);
        return znode ? znode->czxid : 0;
    }

    const std::vector<std::string> paths_ = eight_paths();
    client a_ = connected();
    client b_ = connected();
    multi_mutex mine_{a_, paths_};
    multi_mutex theirs_{b_, paths_};
};

TEST_F(MultiCost, EightPathsAreGrantedInOneRoundTripAndOneByOneInEight) {
    held(mine_).release();
    settle();
    const auto a = finished(acquire(mine_));
    EXPECT_EQ(took(a), round_trip);
    EXPECT_EQ(spent(), described({.gets = 1, .children = eight, .multis = 1}));
    for (const std::string& path : a->granted.paths()) {
        EXPECT_EQ(czxid(path), a->granted.token().zxid) << "with its token";
    }
    a->granted.release();

    std::vector<std::unique_ptr<mutex>> singles;
    for (const std::string& path : paths_) {
        singles.push_back(std::make_unique<mutex>(a_, path));
        held(*singles.back()).release();
    }
    settle();
    std::vector<std::shared_ptr<attempt>> each;
    for (const auto& m : singles) {
        each.push_back(finished(acquire(*m)));
    }
    EXPECT_EQ(took(each.back()), int(eight) * round_trip);
    EXPECT_EQ(ensemble_.count().creates + ensemble_.count().children, 2 * eight);
}

TEST_F(MultiCost, FirstUseIsOneRoundTripToo) {
    settle();
    EXPECT_EQ(took(finished(acquire(mine_))), round_trip);
    EXPECT_EQ(ensemble_.count().creates, 2 * eight);  // two levels each
    EXPECT_EQ(ensemble_.count().requests(), 3 * eight + 2);
}

TEST_F(MultiCost, ShortHoldIsReleasedByOneRequestAndOwesNoOther) {
    held(mine_).release();
    settle();
    hold h = held(mine_);
    begin_counting();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(spent(), described({.multis = 1}));
    for (const std::string& path : paths_) {
        EXPECT_TRUE(ensemble_.children(path).empty());
    }
}

TEST_F(MultiCost, LongerHoldCostsAWatchOfEachZnodeAndTheHeartbeatsOfOneHold) {
    hold h = held(mine_);
    settle();
    EXPECT_EQ(ensemble_.open_watches(), eight);
    ensemble_.run_for(24s);
    EXPECT_EQ(spent(), "");
    EXPECT_GE(ensemble_.count().checks, 13U);
    EXPECT_LE(ensemble_.count().checks, 14U);
    EXPECT_TRUE(h.valid());
    bool done = false;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code ec, const auto&) { done = !ec; });
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 1s));
    EXPECT_EQ(spent(), described({.multis = 1})) << "a transaction is one request";
    EXPECT_TRUE(ensemble_.exists("/effect"));
}

// What waiting costs is a row of cost_growth_test.cpp.
TEST_F(MultiCost, HandOffIsOneRequestAndTheWaiterKnowsItsToken) {
    hold h = held(mine_);
    const auto waiter = acquire(theirs_);
    settle();
    const auto earlier = h.token();
    h.release();
    EXPECT_EQ(took(finished(waiter)), 2 * one_way) << "the deletes there, their events back";
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_GT(waiter->granted.token(), earlier);
    for (const std::string& path : waiter->granted.paths()) {
        EXPECT_EQ(czxid(path), waiter->granted.token().zxid);
    }
}

TEST_F(MultiCost, TryOnAHeldPathIsOneRoundTripOfListsAndWritesNothing) {
    mutex one(b_, paths_[5]);
    const hold h = held(one);
    settle();
    const auto t = finished(acquire(mine_, 0s));
    EXPECT_FALSE(t->granted);
    EXPECT_EQ(took(t), round_trip);
    EXPECT_EQ(spent(a_), described({.children = eight}));
}

TEST_F(MultiCost, TokenThatTheFirstRoundTripDoesNotBringTakesOneMore) {
    held(mine_).release();
    settle();
    constexpr int no_auth = -102;
    ensemble_.refuse_next(ensemble::request_kind::get, no_auth, a_.session_id());
    const auto a = finished(acquire(mine_));
    EXPECT_EQ(took(a), 2 * round_trip);
    EXPECT_EQ(ensemble_.count().requests(), eight + 3);
    EXPECT_EQ(a->granted.token().zxid, czxid(a->granted.path()));
}

// Whoever joins one of the queues at about the same time: before it, between its creation and its
// lists, or after.
TEST_F(MultiCost, TokenIsNotBelowItsCreationAndBelowThoseThatJoinLater) {
    mutex single(b_, paths_[3]);
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
        const auto& before = single_was_first ? one : all;
        const auto& after = single_was_first ? all : one;
        const auto earlier = before->granted.token();
        before->granted.release();
        finished(after);
        EXPECT_GT(after->granted.token(), earlier) << i;
        if (single_was_first) {
            ++single_first;
            const std::int64_t created = czxid(all->granted.path());
            EXPECT_GE(all->granted.token().zxid, created) << i;
            exact += all->granted.token().zxid == created ? 1 : 0;
        }
        after->granted.release();
    }
    EXPECT_GT(single_first, offsets / 2);
    EXPECT_GT(exact, single_first / 2);
}

}  // namespace
}  // namespace latchkey::test
