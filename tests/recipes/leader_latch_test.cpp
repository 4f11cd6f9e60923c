#include <latchkey/leader_latch.hpp>

#include "blocking_thread.hpp"
#include "election_test.hpp"
#include "forked_child.hpp"
#include "in_time.hpp"
#include "interruption.hpp"
#include "leader_story.hpp"

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using ::testing::ElementsAre;

/// Two candidates, which have not been started.
class LeaderLatch : public ElectionTest {
protected:
    [[nodiscard]] bool are_told(std::size_t events) {
        return eventually([&] { return story_.told().size() == events; });
    }

    leader_story story_;
    leader_latch first_{a_, path_, {.id = "node-7"}};
    leader_latch second_{b_, path_, {.id = "b"}};
    const std::string resigned_ = leader_story::lost(loss_reason::resigned);
};

TEST_P(LeaderLatch, LeadsWhenNobodyIsThere) {
    const auto before = boottime_clock::now();
    EXPECT_FALSE(first_.is_leader());
    EXPECT_FALSE(first_.term());
    const leadership term = first_.wait();
    EXPECT_TRUE(term);
    EXPECT_TRUE(term.valid());
    EXPECT_TRUE(first_.is_leader());
    EXPECT_GT(term.token().zxid, 0);
    EXPECT_EQ(term.why_lost(), loss_reason::none);
    EXPECT_FALSE(term.lost().stop_requested());
    EXPECT_GT(term.valid_until(), before);
    EXPECT_LE(term.valid_until(), boottime_clock::now() + a_.session_timeout());
    EXPECT_EQ(first_.term().token(), term.token());
    EXPECT_EQ(first_.wait().token(), term.token()) << "it leads already";
}

TEST_P(LeaderLatch, NamesItsZnodesAsCuratorDoesWithTheIdAsTheirData) {
    const leadership term = first_.wait();
    const auto names = world_->children(path_);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_THAT(
        names.front(),
        ::testing::MatchesRegex("_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-latch-[0-9]{10}"));
    EXPECT_EQ(term.path(), path_ + "/" + names.front());
    EXPECT_EQ(world_->get(term.path()), "node-7");
    EXPECT_EQ(term.id(), "node-7");
    const leader_latch unnamed(a_, path_);
    EXPECT_TRUE(unnamed.id().ends_with(":" + std::to_string(::getpid()))) << unnamed.id();
}

TEST_P(LeaderLatch, ResignsToTheTailAndLeadsAgainWithoutANewObject) {
    start_in_order(first_, second_);
    fencing_token last;
    for (int round = 0; round < 3; ++round) {
        for (leader_latch* const latch : {&first_, &second_}) {
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
    const leadership before = first_.wait();
    first_.resign();
    EXPECT_FALSE(before.valid());
    EXPECT_EQ(before.why_lost(), loss_reason::resigned);
    EXPECT_TRUE(eventually([&] { return before.lost().stop_requested(); }));
    EXPECT_TRUE(first_.wait().valid());
    EXPECT_GT(first_.term().token(), before.token());
    EXPECT_NE(first_.term().path(), before.path());
}

TEST_P(LeaderLatch, WaitingEndsWithItsTimeOrItsStopTokenAndTheCandidacyDoesNot) {
    start_in_order(first_, second_);
    EXPECT_FALSE(in_time(10ms, [&](auto limit) { return second_.wait_for(limit); }));
    EXPECT_FALSE(second_.wait_for(0ms));
    EXPECT_FALSE(in_time(
        10ms, [&](auto limit) { return second_.wait_until(boottime_clock::now() + limit); }));
    std::stop_source stop;
    const std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_FALSE(second_.wait(stop.get_token()));
    EXPECT_EQ(world_->children(path_).size(), 2U);
    first_.close();
    EXPECT_TRUE(second_.wait_for(30s).valid());
    EXPECT_TRUE(second_.wait_for(0ms).valid());
}

TEST_P(LeaderLatch, WaitingIsAnInterruptionPoint) {
    start_in_order(first_, second_);
    EXPECT_TRUE(is_interrupted([&] { return second_.wait(); }));
}

TEST_P(LeaderLatch, TellsElectedAndLostInPairs) {
    subscription s = first_.on_change(story_.teller());
    static_cast<void>(first_.wait());
    first_.resign();
    EXPECT_TRUE(are_told(3));
    s = {};
    leader_story late;
    s = first_.on_change(late.teller());
    EXPECT_TRUE(eventually([&] { return late.told().size() == 1; })) << "that it leads";
    first_.close(leader_latch::closing::notifying);
    EXPECT_TRUE(eventually([&] { return late.told().size() == 2; }));
    EXPECT_THAT(story_.told(), ElementsAre("elected", resigned_, "elected"));
    EXPECT_THAT(late.told(), ElementsAre("elected", resigned_));
}

TEST_P(LeaderLatch, ClosedSilentlyTellsNothingButTheStopToken) {
    const subscription s = first_.on_change(story_.teller());
    const leadership term = first_.wait();
    EXPECT_TRUE(are_told(1));
    first_.close();
    EXPECT_TRUE(eventually([&] { return term.lost().stop_requested(); }));
    EXPECT_TRUE(empties(path_));
    EXPECT_THAT(story_.told(), ElementsAre("elected"));
}

TEST_P(LeaderLatch, NobodyIsElectedBeforeTheListenersHaveReturned) {
    start_in_order(first_, second_);
    static_cast<void>(first_.wait());
    std::atomic<bool> drained{false};
    std::atomic<bool> early{false};
    leader_latch::listener slow;
    slow.lost = [&](const leadership&, loss_reason) {
        early = second_.is_leader();
        drained = true;
    };
    const subscription of_first = first_.on_change(std::move(slow));
    std::atomic<bool> in_time{true};
    leader_latch::listener next;
    next.elected = [&](const leadership&) { in_time = drained.load(); };
    const subscription of_second = second_.on_change(std::move(next));
    first_.resign();
    static_cast<void>(second_.wait());
    EXPECT_TRUE(eventually([&] { return drained.load(); }));
    EXPECT_TRUE(in_time);
    EXPECT_FALSE(early);
}

TEST_P(LeaderLatch, IsACandidateAgainAfterALossOfTheSession) {
    const subscription s = first_.on_change(story_.teller());
    const leadership before = first_.wait();
    world_->expire(a_.session_id());
    EXPECT_TRUE(are_told(3));
    EXPECT_EQ(story_.count("lost, and valid"), 0U);
    EXPECT_FALSE(before.valid());
    EXPECT_NE(before.why_lost(), loss_reason::none);
    EXPECT_NE(before.why_lost(), loss_reason::resigned);
    EXPECT_GT(first_.wait().token(), before.token());
}

TEST_P(LeaderLatch, IsACandidateAgainAtTheTailWhenItsZnodeIsDeleted) {
    client c = connect();
    leader_latch third(c, path_);
    start_in_order(first_, second_);
    third.start();
    ASSERT_TRUE(has_children(3));
    const leadership before = first_.wait();
    ASSERT_TRUE(published(""));  // the own znode is watched a moment after the grant
    world_->remove(before.path());
    EXPECT_TRUE(second_.wait().valid());
    EXPECT_TRUE(is_lost(before, loss_reason::znode_deleted));
    ASSERT_TRUE(has_children(3));
    const leadership closed = second_.term();
    second_.close();
    EXPECT_FALSE(second_.is_leader());
    EXPECT_FALSE(closed.valid());
    const auto between = third.wait().token();
    EXPECT_GT(between, closed.token());
    third.close();
    EXPECT_GT(first_.wait().token(), between);
}

TEST_P(LeaderLatch, EndsWithTheClient) {
    const subscription s = first_.on_change(story_.teller());
    const leadership term = first_.wait();
    a_.close();
    EXPECT_FALSE(first_.is_leader());
    EXPECT_EQ(term.why_lost(), loss_reason::client_closed);
    EXPECT_THAT(story_.told(),
                ElementsAre("elected", leader_story::lost(loss_reason::client_closed)));
    EXPECT_EQ(code_of([&](auto& ec) { EXPECT_FALSE(first_.wait({}, ec)); }), errc::closed);
    { const client gone(std::move(a_)); }
    EXPECT_FALSE(first_.term().valid());
    first_.resign();
    EXPECT_TRUE(world_->children(path_).empty());
}

TEST_P(LeaderLatch, ClosedIsClosedForGood) {
    start_in_order(first_, second_);
    std::error_code waited;
    blocking_thread waiter([&] { static_cast<void>(second_.wait({}, waited)); });
    ASSERT_TRUE(eventually([&] { return waiter.blocks(); }));
    second_.close();
    waiter.join();
    EXPECT_EQ(waited, errc::closed);
    EXPECT_TRUE(has_children(1));
    second_.close(leader_latch::closing::notifying);
    EXPECT_THROW(second_.start(), error);
    first_.close();
    EXPECT_TRUE(empties(path_));
    EXPECT_FALSE(second_.is_leader());
}

TEST_P(LeaderLatch, MayBeDestroyedInEveryState) {
    { const leader_latch not_started(b_, path_); }
    {
        leader_latch joining(b_, path_);
        joining.start();
    }
    static_cast<void>(first_.wait());
    {
        leader_latch follower(b_, path_);
        EXPECT_FALSE(in_time(10ms, [&](auto limit) { return follower.wait_for(limit); }));
    }
    EXPECT_TRUE(has_children(1));
    leadership outlives;
    {
        leader_latch leading(b_, path_ + "2");
        outlives = leading.wait();
    }
    EXPECT_FALSE(outlives.valid());
    EXPECT_TRUE(empties(path_ + "2"));
}

TEST_P(LeaderLatch, MayBeDestroyedByItsOwnListener) {
    for (const bool when_lost : {false, true}) {
        auto latch = std::make_unique<leader_latch>(a_, path_);
        std::atomic<bool> destroyed{false};
        const auto destroy = [&] {
            latch.reset();
            destroyed = true;
        };
        leader_latch::listener told;
        told.elected = [&](const leadership&) { when_lost ? latch->resign() : destroy(); };
        told.lost = [&](const leadership&, loss_reason) { destroy(); };
        const subscription s = latch->on_change(std::move(told));
        latch->start();
        EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
        EXPECT_TRUE(empties(path_));
    }
}

TEST_P(LeaderLatch, RefusesToBlockOnTheCallbackThread) {
    blocking_result<std::error_code> refused;
    leader_latch::listener told;
    told.elected = [&](const leadership& term) {
        refused.set(code_of([&] { term.proclaim("x"); }));
    };
    const subscription s = first_.on_change(std::move(told));
    first_.start();
    EXPECT_EQ(refused.get(), errc::would_deadlock);
}

TEST_P(LeaderLatch, IsInertInAForkedChild) {
    auto latch = std::make_unique<leader_latch>(a_, path_);
    auto s = std::make_unique<subscription>(latch->on_change(story_.teller()));
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
