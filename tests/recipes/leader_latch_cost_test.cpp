#include <latchkey/leader_latch.hpp>

#include "leader_story.hpp"
#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace latchkey::test {
namespace {

/// What leader_latch.hpp says of requests and round trips, counted by the servers.
class LeaderCost : public SteppedTest {
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
    EXPECT_EQ(ensemble_.count().creates, 2U) << "the directory, and the candidate";
    EXPECT_EQ(ensemble_.count().children, 1U);
    EXPECT_EQ(ensemble_.count().gets, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 4U);
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
    EXPECT_EQ(ensemble_.count().multis, 1U) << "the record is clean, and the znode gone";
    EXPECT_EQ(ensemble_.count().removes, 1U) << "should that not have been so";
    EXPECT_EQ(ensemble_.count().requests(), 2U);
    EXPECT_TRUE(ensemble_.children("/leader").empty());
}

TEST_F(LeaderCost, SuccessorNeedsAListTheRecordAndTheGrantInTwoRoundTrips) {
    auto all = queue_of(2);
    all[0].latch->close();
    ASSERT_TRUE(ensemble_.run_until(
        [&] { return ensemble_.count(all[1].session.session_id()).children == 1; }, 1s));
    const auto woken = ensemble_.now();
    ASSERT_TRUE(leads(*all[1].latch));
    EXPECT_LE(ensemble_.now() - woken, 2 * round_trip);
    const auto spent = ensemble_.count(all[1].session.session_id());
    EXPECT_EQ(spent.children, 1U);
    EXPECT_EQ(spent.gets, 1U);
    EXPECT_EQ(spent.multis, 1U);
    EXPECT_EQ(spent.requests(), 3U);
}

TEST_F(LeaderCost, OneOfAHundredIsWokenByAChangeAndTheOthersCostNothing) {
    auto all = queue_of(100);
    for (std::size_t leader = 0; leader < 3; ++leader) {
        settle();
        all[leader].latch->close();
        ASSERT_TRUE(leads(*all[leader + 1].latch));
        ensemble_.run_for(1s);
        for (std::size_t i = leader + 1; i < all.size(); ++i) {
            const auto spent = ensemble_.count(all[i].session.session_id());
            EXPECT_EQ(spent.watch_events, i == leader + 1 ? 1U : 0U) << i;
            EXPECT_EQ(spent.requests(), i == leader + 1 ? 3U : 0U) << i;
        }
    }
}

TEST_F(LeaderCost, FollowersHaveTwoWatchesAndSendNothingWhileTheyWait) {
    auto all = queue_of(10);
    EXPECT_EQ(ensemble_.open_watches(), 1U + 9U * 2U) << "the leader has only its own";
    ensemble_.run_for(60s);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    for (std::size_t i = 2; i < all.size(); ++i) {
        EXPECT_EQ(ensemble_.count(all[i].session.session_id()).checks, 0U) << i;
    }
}

TEST_F(LeaderCost, ProclaimingIsOneWriteAndWakesNoCandidate) {
    auto all = queue_of(3);
    settle();
    const auto before = ensemble_.now();
    ensemble::duration done{};
    all[0].latch->term().async_proclaim("data", [&](std::error_code ec) {
        EXPECT_FALSE(ec) << ec.message();
        done = ensemble_.now();
    });
    ensemble_.run_for(1s);
    EXPECT_EQ(done - before, round_trip);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
    EXPECT_EQ(ensemble_.count().watch_events, 0U);
}

TEST_F(LeaderCost, OverwrittenRecordCostsAProclamationTwoRequestsMore) {
    auto all = queue_of(1);
    ensemble_.set("/leader", "");
    settle();
    all[0].latch->term().async_proclaim(
        "data", [](std::error_code ec) { EXPECT_FALSE(ec) << ec.message(); });
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count().requests(), 3U);
}

}  // namespace
}  // namespace latchkey::test
