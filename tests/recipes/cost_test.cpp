#include "stepped_test.hpp"

#include <memory>
#include <vector>

namespace latchkey::test {
namespace {

/// What the headers say of requests and round trips, counted by the servers.
class Cost : public SteppedTest {};

TEST_F(Cost, UncontendedAcquireIsTwoRequestsInOneRoundTrip) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire(m);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, round_trip);
    const testing::counters n = ensemble_.count();
    EXPECT_EQ(n.creates, 1U);
    EXPECT_EQ(n.children, 1U);
    EXPECT_EQ(n.requests(), 2U);
}

TEST_F(Cost, UncontendedAcquireStaysOneRoundTripWhateverOthersDidMeanwhile) {
    client a = connected();
    client b = connected();
    mutex mine(a, "/lock");
    mutex theirs(b, "/lock");
    for (int i = 0; i < 6; ++i) {
        if (i % 3 == 2) {
            held(theirs).release();
        }
        settle();
        const auto before = ensemble_.now();
        const auto again = acquire(mine);
        ASSERT_TRUE(ensemble_.run_until([&] { return again->done; }, 1s));
        EXPECT_EQ(again->at - before, round_trip) << i;
        again->granted.release();
        ensemble_.run_for(100ms);
        const testing::counters n = ensemble_.count();
        EXPECT_EQ(n.creates, i == 0 ? 2U : 1U) << i;
        EXPECT_EQ(n.children, 1U) << i;
        EXPECT_EQ(n.removes, 1U) << i;
        EXPECT_EQ(n.requests(), n.creates + n.children + n.removes) << i;
    }
}

TEST_F(Cost, FirstUseOfAPathIsOneRoundTripToo) {
    client c = connected();
    mutex m(c, "/a/b/c");
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire(m);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, round_trip);
    EXPECT_EQ(ensemble_.count().creates, 4U);  // three levels and the znode
    EXPECT_EQ(ensemble_.count().requests(), 5U);
}

TEST_F(Cost, DirectoryThatTheServersHaveRemovedCostsOneRoundTripMoreAndNoPause) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    ensemble_.reap_containers();
    ASSERT_FALSE(ensemble_.get("/lock"));
    const auto before = ensemble_.now();
    const auto a = acquire(m);
    ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 1s));
    EXPECT_EQ(a->at - before, 2 * round_trip);
}

TEST_F(Cost, ShortHoldOwesNoReadAndReleaseIsOneRequestNobodyWaitsFor) {
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    hold h = held(m);
    h.release();
    EXPECT_FALSE(h);
    EXPECT_EQ(ensemble_.count().removes, 0U) << "it returns before any server has heard of it";
    ensemble_.run_for(100ms);
    const testing::counters n = ensemble_.count();
    EXPECT_EQ(n.removes, 1U);
    EXPECT_EQ(n.gets, 0U);
    EXPECT_EQ(n.requests(), 3U);
}

TEST_F(Cost, LongerHoldArmsOneWatchOnItsOwnZnode) {
    client c = connected();
    mutex m(c, "/lock");
    const hold h = held(m);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().gets, 1U);
    EXPECT_EQ(ensemble_.count().watches_set, 1U);
    EXPECT_EQ(ensemble_.open_watches(), 1U);
}

TEST_F(Cost, ContendedWaitIsFourRequestsInTwoRoundTripsAndTwoWatches) {
    client a = connected();
    client b = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    held(second).release();  // b knows the directory
    hold h = held(first);
    settle();
    const auto waiter = acquire(second);
    ensemble_.run_for(round_trip + round_trip);
    const testing::counters n = ensemble_.count(b.session_id());
    EXPECT_EQ(n.creates, 1U);
    EXPECT_EQ(n.children, 1U);
    EXPECT_EQ(n.gets, 2U);
    EXPECT_EQ(n.watches_set, 2U);
    ensemble_.run_for(200ms);
    EXPECT_EQ(ensemble_.count(b.session_id()).requests(), 4U);
    EXPECT_FALSE(waiter->done);
}

TEST_F(Cost, HandOffNeedsNoList) {
    client a = connected();
    client b = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    hold h = held(first);
    const auto waiter = acquire(second);
    settle();
    const auto before = ensemble_.now();
    h.release();
    ASSERT_TRUE(ensemble_.run_until([&] { return waiter->done; }, 1s));
    EXPECT_EQ(waiter->at - before, 2 * one_way);  // the delete there, its event back
    const testing::counters n = ensemble_.count();
    EXPECT_EQ(n.children, 0U);
    EXPECT_EQ(n.removes, 1U);
    EXPECT_EQ(n.requests(), 1U);
}

TEST_F(Cost, OneOfAHundredWaitersIsWokenPerRelease) {
    constexpr std::size_t waiters = 100;
    client c = connected();
    std::vector<std::unique_ptr<mutex>> mutexes;
    std::vector<std::shared_ptr<attempt>> attempts;
    for (std::size_t i = 0; i <= waiters; ++i) {
        mutexes.push_back(std::make_unique<mutex>(c, "/lock"));
        attempts.push_back(acquire(*mutexes.back()));
        ensemble_.run_for(10ms);
    }
    settle();
    for (std::size_t i = 0; i < waiters; ++i) {
        ASSERT_TRUE(attempts[i]->granted) << i;
        ASSERT_FALSE(attempts[i + 1]->done) << i;
        attempts[i]->granted.release();
        ensemble_.run_for(20ms);
        EXPECT_EQ(ensemble_.count().removes, 1U) << i;
        // The holder's own watch, which this client has as well, and the successor's.
        EXPECT_EQ(ensemble_.count().watch_events, 1U) << i;
        // The first one's list had shown that only the holder was ahead of it; the others' are old.
        // Those of a long queue are not needed.
        EXPECT_EQ(ensemble_.count().children, i == 0 || i + 2 >= 32 ? 0U : 1U) << i;
        ensemble_.reset_counters();
    }
    EXPECT_TRUE(attempts.back()->granted.valid());
}

TEST_F(Cost, EachOfManySessionsHearsOnlyOfItsPredecessor) {
    constexpr std::size_t waiters = 20;
    std::vector<client> clients;
    std::vector<std::unique_ptr<mutex>> mutexes;
    std::vector<std::shared_ptr<attempt>> attempts;
    for (std::size_t i = 0; i <= waiters; ++i) {
        clients.push_back(connected());
        mutexes.push_back(std::make_unique<mutex>(clients.back(), "/lock"));
        attempts.push_back(acquire(*mutexes.back()));
        ensemble_.run_for(50ms);
    }
    settle();
    attempts[0]->granted.release();
    ensemble_.run_for(50ms);
    for (std::size_t i = 1; i <= waiters; ++i) {
        EXPECT_EQ(ensemble_.count(clients[i].session_id()).watch_events, i == 1 ? 1U : 0U) << i;
        EXPECT_EQ(attempts[i]->done, i == 1) << i;
    }
}

TEST_F(Cost, TryAcquireOnAHeldLockIsOneReadAndNoWrite) {
    client a = connected();
    client b = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    const hold h = held(first);
    settle();
    const auto before = ensemble_.now();
    const auto t = acquire(second, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return t->done; }, 1s));
    EXPECT_FALSE(t->granted);
    EXPECT_FALSE(t->ec);
    EXPECT_EQ(t->at - before, round_trip);
    EXPECT_EQ(ensemble_.count(b.session_id()).children, 1U);
    EXPECT_EQ(ensemble_.count(b.session_id()).requests(), 1U);
}

TEST_F(Cost, HeartbeatsAreOnePerSeventhOfTheTimeoutHoweverManyHolds) {
    client c = connected();
    std::vector<std::unique_ptr<mutex>> mutexes;
    std::vector<hold> holds;
    for (int i = 0; i < 5; ++i) {
        mutexes.push_back(std::make_unique<mutex>(c, "/lock" + std::to_string(i)));
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
    client c = connected();
    mutex m(c, "/lock");
    held(m).release();
    settle();
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count().checks, 0U);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    EXPECT_EQ(ensemble_.count().exists, 16U) << "one every 3.75 s";
}

TEST_F(Cost, GuardedTransactionIsOneRequestInOneRoundTrip) {
    client c = connected();
    mutex m(c, "/lock");
    hold h = held(m);
    settle();
    const auto before = ensemble_.now();
    bool done = false;
    h.async_transact({operation::create("/effect")},
                     [&](std::error_code ec, const auto&) { done = !ec; });
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 1s));
    EXPECT_EQ(ensemble_.now() - before, round_trip);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
}

TEST_F(Cost, GivingUpLeavesNoWatchBehind) {
    client a = connected();
    client b = connected();
    mutex first(a, "/lock");
    mutex second(b, "/lock");
    hold h = held(first);
    for (int i = 0; i < 50; ++i) {
        const auto w = acquire(second, 20ms);
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 1s));
        ensemble_.run_for(10ms);
    }
    EXPECT_LE(ensemble_.open_watches(),
              2U);  // the holder's own, and one for all who waited behind it
}

}  // namespace
}  // namespace latchkey::test
