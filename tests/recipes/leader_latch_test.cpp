#include <latchkey/leader_latch.hpp>

#include "blocking_thread.hpp"
#include "election_test.hpp"
#include "forked_child.hpp"
#include "in_time.hpp"
#include "leader_story.hpp"

#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

#include <boost/thread/thread.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

class LeaderLatch : public ElectionTest {};

TEST_P(LeaderLatch, LeadsWhenNobodyIsThere) {
    const auto before = boottime_clock::now();
    client c = connect();
    leader_latch latch(c, path_);
    EXPECT_FALSE(latch.is_leader());
    EXPECT_FALSE(latch.term());
    const leadership term = latch.wait();
    EXPECT_TRUE(term);
    EXPECT_TRUE(term.valid());
    EXPECT_TRUE(latch.is_leader());
    EXPECT_GT(term.token().zxid, 0);
    EXPECT_EQ(term.why_lost(), loss_reason::none);
    EXPECT_FALSE(term.lost().stop_requested());
    EXPECT_GT(term.valid_until(), before);
    EXPECT_LE(term.valid_until(), boottime_clock::now() + c.session_timeout());
    EXPECT_EQ(latch.term().token(), term.token());
    EXPECT_EQ(latch.wait().token(), term.token()) << "it leads already";
}

TEST_P(LeaderLatch, NamesItsZnodesAsCuratorDoesWithTheIdAsTheirData) {
    client c = connect();
    leader_latch latch(c, path_, {.id = "node-7"});
    const leadership term = latch.wait();
    const auto names = world_->children(path_);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_THAT(
        names.front(),
        ::testing::MatchesRegex("_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-latch-[0-9]{10}"));
    EXPECT_EQ(term.path(), path_ + "/" + names.front());
    EXPECT_EQ(world_->get(term.path()), "node-7");
    EXPECT_EQ(term.id(), "node-7");
}

TEST_P(LeaderLatch, CallsItselfByHostAndProcessIfItHasNoName) {
    client c = connect();
    const leader_latch latch(c, path_);
    EXPECT_TRUE(latch.id().ends_with(":" + std::to_string(::getpid()))) << latch.id();
}

TEST_P(LeaderLatch, FollowerLeadsWhenTheLeaderCloses) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_, {.id = "a"});
    leader_latch second(b, path_, {.id = "b"});
    start_in_order(first, second);
    const leadership before = first.wait();
    EXPECT_FALSE(second.is_leader());
    first.close();
    EXPECT_FALSE(first.is_leader());
    EXPECT_FALSE(before.valid());
    EXPECT_EQ(before.why_lost(), loss_reason::resigned);
    EXPECT_TRUE(second.wait().valid());
    EXPECT_GT(second.term().token(), before.token());
    EXPECT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
}

TEST_P(LeaderLatch, ResignsToTheTailAndLeadsAgainWithoutANewObject) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_, {.id = "a"});
    leader_latch second(b, path_, {.id = "b"});
    start_in_order(first, second);
    fencing_token last;
    for (int round = 0; round < 3; ++round) {
        for (leader_latch* const latch : {&first, &second}) {
            const leadership term = latch->wait();
            ASSERT_TRUE(term.valid());
            EXPECT_GT(term.token(), last);
            last = term.token();
            latch->resign();
            EXPECT_FALSE(latch->is_leader());
        }
    }
}

TEST_P(LeaderLatch, ResignsAloneIntoANewTerm) {
    client c = connect();
    leader_latch latch(c, path_);
    const leadership before = latch.wait();
    latch.resign();
    EXPECT_FALSE(before.valid());
    EXPECT_EQ(before.why_lost(), loss_reason::resigned);
    EXPECT_TRUE(eventually([&] { return before.lost().stop_requested(); }));
    EXPECT_TRUE(latch.wait().valid());
    EXPECT_GT(latch.term().token(), before.token());
    EXPECT_NE(latch.term().path(), before.path());
}

TEST_P(LeaderLatch, WaitingEndsWithItsTimeOrItsStopTokenAndTheCandidacyDoesNot) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_);
    leader_latch second(b, path_);
    start_in_order(first, second);
    EXPECT_FALSE(in_time(10ms, [&](auto limit) { return second.wait_for(limit); }));
    EXPECT_FALSE(second.wait_for(0ms));
    EXPECT_FALSE(in_time(
        10ms, [&](auto limit) { return second.wait_until(boottime_clock::now() + limit); }));
    std::stop_source stop;
    const std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_FALSE(second.wait(stop.get_token()));
    EXPECT_EQ(world_->children(path_).size(), 2U);
    first.close();
    EXPECT_TRUE(second.wait_for(30s).valid());
    EXPECT_TRUE(second.wait_for(0ms).valid());
}

TEST_P(LeaderLatch, WaitingIsAnInterruptionPoint) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_);
    leader_latch second(b, path_);
    start_in_order(first, second);
    std::atomic<bool> interrupted{false};
    boost::thread waiter([&] {
        try {
            static_cast<void>(second.wait());
        } catch (const boost::thread_interrupted&) {
            interrupted = true;
        }
    });
    waiter.interrupt();
    waiter.join();
    EXPECT_TRUE(interrupted);
}

TEST_P(LeaderLatch, WaitsWithoutBlocking) {
    client c = connect();
    leader_latch latch(c, path_);
    blocking_result<leadership> led;
    latch.async_wait(std::chrono::nanoseconds::max(), {}, [&](std::error_code ec, leadership term) {
        EXPECT_FALSE(ec);
        led.set(std::move(term));
    });
    EXPECT_TRUE(led.get().valid());
}

TEST_P(LeaderLatch, TellsElectedAndLostInPairs) {
    client c = connect();
    leader_story story;
    leader_latch latch(c, path_);
    const subscription s = latch.on_change(story.teller());
    static_cast<void>(latch.wait());
    latch.resign();
    EXPECT_TRUE(eventually([&] { return story.told().size() == 3; }));
    latch.close(leader_latch::closing::notifying);
    EXPECT_TRUE(eventually([&] { return story.told().size() == 4; }));
    const std::string resigned = leader_story::lost(loss_reason::resigned);
    EXPECT_THAT(story.told(), ElementsAre("elected", resigned, "elected", resigned));
}

TEST_P(LeaderLatch, TellsALateListenerThatItLeads) {
    client c = connect();
    leader_story story;
    leader_latch latch(c, path_);
    static_cast<void>(latch.wait());
    const subscription s = latch.on_change(story.teller());
    EXPECT_TRUE(eventually([&] { return story.told().size() == 1; }));
    latch.close(leader_latch::closing::notifying);
    EXPECT_TRUE(eventually([&] { return story.told().size() == 2; }));
    EXPECT_THAT(story.told(), ElementsAre("elected", leader_story::lost(loss_reason::resigned)));
}

TEST_P(LeaderLatch, ClosedSilentlyTellsNothingButTheStopToken) {
    client c = connect();
    leader_story story;
    leader_latch latch(c, path_);
    const subscription s = latch.on_change(story.teller());
    const leadership term = latch.wait();
    EXPECT_TRUE(eventually([&] { return story.told().size() == 1; }));
    latch.close();
    EXPECT_TRUE(eventually([&] { return term.lost().stop_requested(); }));
    EXPECT_TRUE(empties(path_));
    EXPECT_THAT(story.told(), ElementsAre("elected"));
}

TEST_P(LeaderLatch, NobodyIsElectedBeforeTheListenersHaveReturned) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_);
    leader_latch second(b, path_);
    start_in_order(first, second);
    static_cast<void>(first.wait());
    std::atomic<bool> drained{false};
    std::atomic<bool> early{false};
    const subscription slow = first.on_change({.elected = {},
                                               .lost =
                                                   [&](const leadership&, loss_reason) {
                                                       early = second.is_leader();
                                                       drained = true;
                                                   },
                                               .refused = {}});
    std::atomic<bool> in_time{true};
    const subscription next =
        second.on_change({.elected = [&](const leadership&) { in_time = drained.load(); },
                          .lost = {},
                          .refused = {}});
    first.resign();
    static_cast<void>(second.wait());
    EXPECT_TRUE(eventually([&] { return drained.load(); }));
    EXPECT_TRUE(in_time);
    EXPECT_FALSE(early);
}

TEST_P(LeaderLatch, IsACandidateAgainAfterALossOfTheSession) {
    client c = connect();
    leader_story story;
    leader_latch latch(c, path_);
    const subscription s = latch.on_change(story.teller());
    const leadership before = latch.wait();
    world_->expire(c.session_id());
    EXPECT_TRUE(eventually([&] { return story.told().size() == 3; }));
    EXPECT_EQ(story.count("lost, and valid"), 0U);
    EXPECT_FALSE(before.valid());
    EXPECT_NE(before.why_lost(), loss_reason::none);
    EXPECT_NE(before.why_lost(), loss_reason::resigned);
    const leadership after = latch.wait();
    EXPECT_GT(after.token(), before.token());
}

TEST_P(LeaderLatch, IsACandidateAgainAtTheTailWhenItsZnodeIsDeleted) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_);
    leader_latch second(b, path_);
    client c = connect();
    leader_latch third(c, path_);
    start_in_order(first, second);
    third.start();
    ASSERT_TRUE(eventually([&] { return world_->children(path_).size() == 3; }));
    const leadership before = first.wait();
    ASSERT_TRUE(published(""));  // the own znode is watched a moment after the grant
    world_->remove(before.path());
    EXPECT_TRUE(second.wait().valid());
    EXPECT_TRUE(eventually([&] { return before.why_lost() == loss_reason::znode_deleted; }));
    ASSERT_TRUE(eventually([&] { return world_->children(path_).size() == 3; }));
    second.close();
    const auto between = third.wait().token();
    third.close();
    EXPECT_GT(first.wait().token(), between);
}

TEST_P(LeaderLatch, EndsWithTheClient) {
    auto c = std::make_unique<client>(connect());
    leader_story story;
    leader_latch latch(*c, path_);
    const subscription s = latch.on_change(story.teller());
    const leadership term = latch.wait();
    c->close();
    EXPECT_FALSE(latch.is_leader());
    EXPECT_EQ(term.why_lost(), loss_reason::client_closed);
    EXPECT_THAT(story.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::client_closed)));
    std::error_code ec;
    EXPECT_FALSE(latch.wait({}, ec));
    EXPECT_EQ(ec, errc::closed);
    c.reset();
    EXPECT_FALSE(latch.term().valid());
    latch.resign();
    EXPECT_TRUE(world_->children(path_).empty());
}

TEST_P(LeaderLatch, ClosedIsClosedForGood) {
    client a = connect();
    client b = connect();
    leader_latch first(a, path_);
    leader_latch second(b, path_);
    start_in_order(first, second);
    std::error_code waited;
    blocking_thread waiter([&] { static_cast<void>(second.wait({}, waited)); });
    ASSERT_TRUE(eventually([&] { return waiter.blocks(); }));
    second.close();
    waiter.join();
    EXPECT_EQ(waited, errc::closed);
    EXPECT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
    second.close(leader_latch::closing::notifying);
    EXPECT_THROW(second.start(), error);
    first.close();
    EXPECT_TRUE(empties(path_));
    EXPECT_FALSE(second.is_leader());
}

TEST_P(LeaderLatch, MayBeDestroyedInEveryState) {
    client a = connect();
    client b = connect();
    leader_latch leader(a, path_);
    { const leader_latch not_started(b, path_); }
    {
        leader_latch joining(b, path_);
        joining.start();
    }
    static_cast<void>(leader.wait());
    {
        leader_latch follower(b, path_);
        EXPECT_FALSE(in_time(10ms, [&](auto limit) { return follower.wait_for(limit); }));
    }
    EXPECT_TRUE(eventually([&] { return world_->children(path_).size() == 1; }));
    leadership outlives;
    {
        leader_latch leading(b, path_ + "2");
        outlives = leading.wait();
    }
    EXPECT_FALSE(outlives.valid());
    EXPECT_TRUE(empties(path_ + "2"));
}

TEST_P(LeaderLatch, MayBeDestroyedByItsOwnListener) {
    client c = connect();
    for (const bool when_lost : {false, true}) {
        auto latch = std::make_unique<leader_latch>(c, path_);
        std::atomic<bool> destroyed{false};
        const auto destroy = [&] {
            latch.reset();
            destroyed = true;
        };
        subscription s =
            latch->on_change({.elected =
                                  [&](const leadership&) {
                                      if (when_lost) {
                                          latch->resign();
                                      } else {
                                          destroy();
                                      }
                                  },
                              .lost = [&](const leadership&, loss_reason) { destroy(); },
                              .refused = {}});
        latch->start();
        EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
        EXPECT_TRUE(empties(path_));
    }
}

TEST_P(LeaderLatch, RefusesToBlockOnTheCallbackThread) {
    client c = connect();
    leader_latch latch(c, path_);
    blocking_result<std::error_code> ec;
    const subscription s = latch.on_change({.elected =
                                                [&](const leadership& term) {
                                                    std::error_code e;
                                                    term.proclaim("x", e);
                                                    ec.set(e);
                                                },
                                            .lost = {},
                                            .refused = {}});
    latch.start();
    EXPECT_EQ(ec.get(), errc::would_deadlock);
}

TEST_P(LeaderLatch, IsInertInAForkedChild) {
    client c = connect();
    auto latch = std::make_unique<leader_latch>(c, path_);
    leader_story story;
    auto s = std::make_unique<subscription>(latch->on_change(story.teller()));
    auto term = std::make_unique<leadership>(latch->wait());
    EXPECT_TRUE(holds_in_a_forked_child([&] {
        bool inert = !latch->is_leader() && !term->valid() && !latch->term();
        inert = inert && term->why_lost() == loss_reason::forked;
        std::error_code ec;
        inert = inert && !latch->wait({}, ec) && ec == errc::forked;
        term->proclaim("child's", ec);
        inert = inert && ec == errc::forked;
        latch->resign();
        latch->close();
        s.reset();
        term.reset();
        latch.reset();
        return inert;
    }));
    EXPECT_TRUE(latch->is_leader());
    EXPECT_EQ(world_->children(path_).size(), 1U);
}

LATCHKEY_IN_THIS_WORLD(LeaderLatch);

}  // namespace
}  // namespace latchkey::test
