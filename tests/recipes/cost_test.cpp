#include "cost_test.hpp"

#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What mutex.hpp and client.hpp say of requests and round trips. How costs grow with the number of
/// participants stands in the table of cost_growth_test.cpp.
class Cost : public CostTest {
protected:
    client a_ = connected();
    client b_ = connected();
    mutex first_{a_, "/lock"};
    mutex second_{b_, "/lock"};
};

TEST_F(Cost, UncontendedAcquireIsTwoRequestsInOneRoundTrip) {
    held(first_).release();
    settle();
    const auto a = finished(acquire(first_));
    EXPECT_EQ(took(a), round_trip);
    EXPECT_EQ(spent(), described({.creates = 1, .children = 1}));
}

TEST_F(Cost, UncontendedAcquireStaysOneRoundTripWhateverOthersDidMeanwhile) {
    for (int i = 0; i < 6; ++i) {
        if (i % 3 == 2) {
            held(second_).release();
        }
        settle();
        const auto again = finished(acquire(first_));
        EXPECT_EQ(took(again), round_trip) << i;
        again->granted.release();
        ensemble_.run_for(100ms);
        testing::counters n = ensemble_.count();
        EXPECT_EQ(n.creates, i == 0 ? 2U : 1U) << i;
        EXPECT_EQ(n.children, 1U) << i;
        EXPECT_EQ(n.removes, 1U) << i;
        EXPECT_EQ(n.requests(), n.creates + n.children + n.removes) << i;
    }
}

TEST_F(Cost, FirstUseOfAPathIsOneRoundTripToo) {
    mutex m(a_, "/a/b/c");
    settle();
    EXPECT_EQ(took(finished(acquire(m))), round_trip);
    EXPECT_EQ(spent(), described({.creates = 4, .children = 1})) << "three levels and the znode";
}

TEST_F(Cost, DirectoryThatTheServersHaveRemovedCostsOneRoundTripMoreAndNoPause) {
    held(first_).release();
    SteppedTest::settle();
    ensemble_.reap_containers();
    ASSERT_FALSE(ensemble_.get("/lock"));
    begin_counting();
    EXPECT_EQ(took(finished(acquire(first_))), 2 * round_trip);
}

TEST_F(Cost, ShortHoldOwesNoReadAndReleaseIsOneRequestNobodyWaitsFor) {
    held(first_).release();
    settle();
    hold h = held(first_);
    h.release();
    EXPECT_FALSE(h);
    EXPECT_EQ(ensemble_.count().removes, 0U) << "it returns before any server has heard of it";
    ensemble_.run_for(100ms);
    EXPECT_EQ(spent(), described({.creates = 1, .removes = 1, .children = 1}));
}

TEST_F(Cost, LongerHoldArmsOneWatchOnItsOwnZnode) {
    const hold h = held(first_);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().gets, 1U);
    EXPECT_EQ(ensemble_.count().watches_set, 1U);
    EXPECT_EQ(ensemble_.open_watches(), 1U);
}

TEST_F(Cost, ContendedWaitIsFourRequestsInTwoRoundTripsAndTwoWatches) {
    held(second_).release();  // it knows the directory
    const hold h = held(first_);
    settle();
    const auto waiter = acquire(second_);
    const std::string all = described({.creates = 1, .gets = 2, .children = 1, .watches_set = 2});
    ensemble_.run_for(2 * round_trip);
    EXPECT_EQ(spent(b_), all);
    ensemble_.run_for(200ms);
    EXPECT_EQ(spent(b_), all) << "and nothing later";
    EXPECT_FALSE(waiter->done);
}

TEST_F(Cost, HandOffNeedsNoList) {
    hold h = held(first_);
    const auto waiter = acquire(second_);
    settle();
    h.release();
    EXPECT_EQ(took(finished(waiter)), 2 * one_way) << "the delete there, its event back";
    EXPECT_EQ(ensemble_.count().removes, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
}

TEST_F(Cost, TryAcquireOnAHeldLockIsOneReadAndNoWrite) {
    const hold h = held(first_);
    settle();
    const auto t = finished(acquire(second_, 0s));
    EXPECT_FALSE(t->granted);
    EXPECT_EQ(took(t), round_trip);
    EXPECT_EQ(spent(b_), described({.children = 1}));
}

TEST_F(Cost, HeartbeatsAreOnePerSeventhOfTheTimeoutHoweverManyHolds) {
    std::vector<std::unique_ptr<mutex>> mutexes;
    std::vector<hold> holds;
    for (int i = 0; i < 5; ++i) {
        mutexes.push_back(std::make_unique<mutex>(a_, "/lock" + std::to_string(i)));
        holds.push_back(held(*mutexes.back()));
    }
    settle();
    ensemble_.run_for(24s);
    EXPECT_GE(ensemble_.count().checks, 13U);
    EXPECT_LE(ensemble_.count().checks, 14U);
    for (const hold& h : holds) {
        EXPECT_TRUE(h.valid());
    }
}

TEST_F(Cost, IdleClientSendsNoHeartbeat) {
    held(first_).release();
    settle();
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count().checks, 0U);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    EXPECT_EQ(count(a_).exists, 16U) << "one every 3.75 s";
}

TEST_F(Cost, GuardedTransactionIsOneRequestInOneRoundTrip) {
    hold h = held(first_);
    settle();
    const auto done = std::make_shared<attempt>();
    h.async_transact({operation::create("/effect")}, [&](std::error_code ec, const auto&) {
        *done = {.done = true, .ec = ec, .granted = {}, .at = ensemble_.now()};
    });
    EXPECT_EQ(took(finished(done)), round_trip);
    EXPECT_EQ(spent(), described({.multis = 1}));
}

TEST_F(Cost, GivingUpLeavesNoWatchBehind) {
    const hold h = held(first_);
    for (int i = 0; i < 50; ++i) {
        finished(acquire(second_, 20ms));
        ensemble_.run_for(10ms);
    }
    EXPECT_LE(ensemble_.open_watches(), 2U)
        << "the holder's own, and one for all who waited behind it";
}

}  // namespace
}  // namespace latchkey::test
