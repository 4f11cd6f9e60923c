#include <latchkey/leader_latch.hpp>
#include <latchkey/leader_observer.hpp>

#include "cost_test.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

/// What leader_latch.hpp says of requests and round trips.
class LeaderCost : public CostTest {
protected:
    struct candidate {
        client session;
        std::unique_ptr<leader_latch> latch;
    };

    /// As many candidates, each with a session of its own, in order; the first leads.
    std::vector<candidate> queue_of(int size) {
        std::vector<candidate> all;
        for (int i = 0; i < size; ++i) {
            client c = connected();
            auto latch = std::make_unique<leader_latch>(c, "/leader");
            latch->start();
            ensemble_.run_for(10 * round_trip);
            all.push_back({std::move(c), std::move(latch)});
        }
        EXPECT_TRUE(all.front().latch->is_leader());
        settle();
        return all;
    }

    bool leads(const leader_latch& latch) {
        return ensemble_.run_until([&] { return latch.is_leader(); }, 60s);
    }
};

TEST_F(LeaderCost, UncontendedIsOneRoundTripAlsoAtTheFirstUseOfAPath) {
    client c = connected();
    settle();
    leader_latch latch(c, "/leader");
    ensemble::duration elected{};
    const subscription s =
        latch.on_change({.elected = [&](const leadership&) { elected = ensemble_.now(); },
                         .lost = {},
                         .refused = {}});
    const auto before = ensemble_.now();
    latch.start();
    ASSERT_TRUE(leads(latch));
    EXPECT_EQ(ensemble_.now() - before, round_trip);
    EXPECT_EQ(spent(), "create 2 get 1 list 1 ") << "the directory, and the candidate";
    settle();
    EXPECT_EQ(elected - before, round_trip);
}

TEST_F(LeaderCost, RecordAndOwnWatchAreARequestEachThatNobodyWaitsFor) {
    client c = connected();
    leader_latch latch(c, "/leader");
    latch.start();
    ASSERT_TRUE(leads(latch));
    settle();
    ensemble_.run_for(10s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    latch.resign();
    ASSERT_TRUE(leads(latch));
    settle();
    latch.close();
    ensemble_.run_for(100ms);
    // The record is clean and the znode gone; and a delete, should that not have been so.
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().removes, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 2U);
    EXPECT_TRUE(ensemble_.children("/leader").empty());
}

TEST_F(LeaderCost, SuccessorNeedsAListAndTheRecordInOneRoundTrip) {
    auto all = queue_of(2);
    const client& next = all[1].session;
    all[0].latch->close();
    ASSERT_TRUE(ensemble_.run_until([&] { return count(next).children == 1; }, 1s));
    const auto woken = ensemble_.now();
    ASSERT_TRUE(leads(*all[1].latch));
    EXPECT_LE(ensemble_.now() - woken, round_trip);
    EXPECT_EQ(spent(next), described({.gets = 1, .children = 1, .watch_events = 1}));
}

TEST_F(LeaderCost, OneOfAHundredIsWokenByAChangeAndTheOthersCostNothing) {
    auto all = queue_of(100);
    for (std::size_t leader = 0; leader < 3; ++leader) {
        settle();
        all[leader].latch->close();
        ASSERT_TRUE(leads(*all[leader + 1].latch));
        ensemble_.run_for(1s);
        EXPECT_EQ(count(all[leader + 1].session).watch_events, 1U);
        EXPECT_EQ(count(all[leader + 1].session).requests(), 3U);
        for (std::size_t i = leader + 2; i < all.size(); ++i) {
            EXPECT_EQ(spent(all[i].session), "") << i;
        }
    }
}

TEST_F(LeaderCost, FollowersHaveTwoWatchesAndSendNothingWhileTheyWait) {
    auto all = queue_of(10);
    EXPECT_EQ(ensemble_.open_watches(), 1U + 9U * 2U) << "the leader has only its own";
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    for (std::size_t i = 2; i < all.size(); ++i) {
        EXPECT_EQ(count(all[i].session).checks, 0U) << i;
    }
}

TEST_F(LeaderCost, ProclaimingIsOneWriteAndWakesNoCandidate) {
    const auto all = queue_of(3);
    const auto proclaim = [&] {
        const auto done = std::make_shared<attempt>();
        all[0].latch->term().async_proclaim("data", [=, this](std::error_code ec) {
            *done = {.done = true, .ec = ec, .granted = {}, .at = ensemble_.now()};
        });
        return finished(done);
    };
    EXPECT_EQ(took(proclaim()), round_trip);
    ensemble_.run_for(1s);
    EXPECT_EQ(spent(), described({.multis = 1}));
    ensemble_.set("/leader", "");
    settle();
    proclaim();
    EXPECT_EQ(ensemble_.count().requests(), 3U) << "a record that was overwritten costs two more";
}

/// What leader_observer.hpp says of requests, round trips and watches.
class LeaderObserverCost : public CostTest {
protected:
    LeaderObserverCost() { ensemble_.create("/lead"); }

    std::string candidate(const std::string& id) {
        return ensemble_.create("/lead/_c_01234567-89ab-cdef-0123-456789abcdef-latch-000000000" +
                                    std::to_string(candidates_++),
                                id);
    }

    bool runs_until_leads(const leader_observer& o, const std::string& id) {
        return ensemble_.run_until([&] { return o.current() && o.current()->id == id; }, 10s);
    }

    int candidates_ = 0;
    client c_ = connected();
};

TEST_F(LeaderObserverCost, ObserverHasTwoWatchesWhoeverLeads) {
    const leader_observer o(c_, "/lead");
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U) << "the directory's children, and its data";
    const auto a = candidate("a");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U) << "the leader's znode, and the directory's data";
    for (int i = 0; i < 3; ++i) {
        ensemble_.cut(c_.session_id());
        ensemble_.run_for(5s);
    }
    EXPECT_EQ(ensemble_.open_watches(), 2U) << "after every reconnect";
    ensemble_.remove(a);
    ASSERT_TRUE(ensemble_.run_until([&] { return !o.current(); }, 10s));
    settle();
    EXPECT_EQ(ensemble_.open_watches(), 2U);
}

TEST_F(LeaderObserverCost, FollowersCostAnObserverNothing) {
    candidate("a");
    const leader_observer o(c_, "/lead");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    const auto b = candidate("b");
    candidate("c");
    ensemble_.remove(b);
    ensemble_.run_for(1s);
    EXPECT_EQ(spent(c_), "");
}

TEST_F(LeaderObserverCost, ChangeOfLeaderIsTwoRequestsInTwoRoundTrips) {
    const auto a = candidate("a");
    candidate("b");
    const leader_observer o(c_, "/lead");
    ASSERT_TRUE(runs_until_leads(o, "a"));
    settle();
    const auto before = ensemble_.now();
    ensemble_.remove(a);
    ASSERT_TRUE(runs_until_leads(o, "b"));
    EXPECT_LE(ensemble_.now() - before, one_way + 2 * round_trip);
    const testing::counters n = count(c_);
    EXPECT_EQ(n.requests(), 2U);
    EXPECT_EQ(n.children + n.gets, 2U);
    EXPECT_EQ(n.watch_events, 1U);
}

}  // namespace
}  // namespace latchkey::test
