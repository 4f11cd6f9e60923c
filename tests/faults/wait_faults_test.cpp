#include "stepped_test.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;
using op = ensemble::request_kind;

/// What can go wrong between joining the queue and the grant. Three clients, one lock.
class WaitFaults : public SteppedTest {
protected:
    /// It waits, and everything that this takes has happened.
    std::shared_ptr<attempt> queued(mutex& m) {
        const std::size_t before = in_queue();
        auto w = acquire(m);
        EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == before + 1; }, 10s));
        ensemble_.run_for(100ms);
        EXPECT_FALSE(w->done);
        return w;
    }

    client a_ = connected();
    client b_ = connected();
    client c_ = connected();
    mutex first_{a_, "/lock"};
    mutex second_{b_, "/lock"};
    mutex third_{c_, "/lock"};
};

// ---- the predecessor ----

TEST_F(WaitFaults, PredecessorThatGoesBetweenTheListAndTheWatchIsFollowedByAnotherList) {
    const hold h = held(first_);
    ensemble_.run_for(1s);
    ensemble_.reset_counters();
    const auto w = acquire(second_);
    const std::int64_t session = b_.session_id();
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.count(session).children == 1; }, 1s));
    ensemble_.run_for(one_way / 2);  // the list is on its way back
    ensemble_.remove(h.path());
    expect_granted(w);
    EXPECT_EQ(ensemble_.count(session).children, 2U);
}

TEST_F(WaitFaults, PredecessorThatGoesBetweenTheListAndTheWatchIsNoGrantWhileTheHolderIsThere) {
    hold h = held(first_);
    const auto w2 = queued(second_);
    ensemble_.reset_counters();
    const auto w3 = acquire(third_);
    const std::int64_t session = c_.session_id();
    ASSERT_TRUE(ensemble_.run_until([&] { return ensemble_.count(session).children == 1; }, 1s));
    ensemble_.run_for(one_way / 2);  // the list is on its way back
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_FALSE(w3->done) << "granted because its predecessor was not there";
    h.release();
    expect_granted(w3);
    w3->granted.release();
    expect_granted(w2);
}

TEST_F(WaitFaults, PredecessorWhoseSessionEndsIsReplacedByTheOneBeforeIt) {
    hold h = held(first_);
    const auto w2 = queued(second_);
    const auto w3 = queued(third_);
    ensemble_.suspend(b_.session_id());
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(5s);
    EXPECT_FALSE(w3->done);
    EXPECT_EQ(in_queue(), 2U);
    EXPECT_EQ(ensemble_.open_watches(), 3U) << "the holder's own, the waiter's two";
    h.release();
    expect_granted(w3);
}

TEST_F(WaitFaults, PredecessorWhoseDataChangesAgainAndAgainIsStillTheOnlyOneWatched) {
    hold h = held(first_);
    const auto w = queued(second_);
    const std::size_t watches = ensemble_.open_watches();
    for (int i = 0; i < 20; ++i) {
        ensemble_.set(h.path(), std::to_string(i));
        ensemble_.run_for(50ms);
        EXPECT_FALSE(w->done);
    }
    EXPECT_EQ(ensemble_.open_watches(), watches);
    h.release();
    expect_granted(w);
}

// ---- watches ----

TEST_F(WaitFaults, EventOfAnEarlierAttemptIsNoGrant) {
    hold h = held(first_);
    const auto w2 = queued(second_);
    const auto early = acquire(third_, 1s);
    ASSERT_TRUE(ensemble_.run_until([&] { return early->done; }, 10s));
    const auto late = queued(third_);
    // Both attempts of the third watched the second's znode.
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_FALSE(late->done);
    h.release();
    expect_granted(late);
    EXPECT_FALSE(w2->done);
    late->granted.release();
    expect_granted(w2);
}

TEST_F(WaitFaults, DeletionWhileTheConnectionWasGoneIsLearntFromTheNextOne) {
    hold h = held(first_);
    const auto w = queued(second_);
    for (int server = 0; server < 3; ++server) {
        ensemble_.suspend(b_.session_id());
        ensemble_.run_for(500ms);
        ensemble_.move(b_.session_id(), server);
        ensemble_.resume(b_.session_id());
        ensemble_.run_for(500ms);
        ASSERT_FALSE(w->done);
    }
    ensemble_.suspend(b_.session_id());
    h.release();
    ensemble_.run_for(3s);
    EXPECT_FALSE(w->done) << "granted without a connection";
    ensemble_.resume(b_.session_id());
    expect_granted(w);
}

TEST_F(WaitFaults, HundredsOfWaitersOfOneSessionSurviveItsReconnects) {
    constexpr std::size_t many = 300;
    hold h = held(first_);
    std::vector<std::unique_ptr<mutex>> objects;
    std::vector<std::shared_ptr<attempt>> waiters;
    for (std::size_t i = 0; i < many; ++i) {
        objects.push_back(std::make_unique<mutex>(b_, "/lock"));
        waiters.push_back(acquire(*objects.back()));
    }
    ensemble_.run_for(5s);
    ASSERT_EQ(in_queue(), many + 1);
    ensemble_.cut(b_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(in_queue(), many + 1) << "places are kept";
    h.release();
    for (const auto& w : waiters) {
        ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 10s));
        ASSERT_TRUE(w->granted.valid());
        w->granted.release();
    }
}

// ---- sessions and servers ----

TEST_F(WaitFaults, SessionThatEndsIsToldToNobodyAndJoinsAnewAtTheTail) {
    hold h = held(first_);
    const auto w2 = queued(second_);
    const auto w3 = queued(third_);
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(5s);
    EXPECT_FALSE(w2->done);
    h.release();
    expect_granted(w3);
    ensemble_.run_for(1s);
    EXPECT_FALSE(w2->done);
    w3->granted.release();
    expect_granted(w2);
    EXPECT_EQ(ensemble_.get(w2->granted.path())->ephemeral_owner, b_.session_id());
}

TEST_F(WaitFaults, OnAServerThatIsFarBehindTheTurnIsStillItsOwn) {
    const int follower = (ensemble_.leader() + 1) % 3;
    for (client* const c : {&a_, &b_}) {
        ensemble_.move(c->session_id(), ensemble_.leader());
    }
    ensemble_.move(c_.session_id(), follower);
    ensemble_.run_for(1s);
    hold h = held(first_);
    const auto w2 = queued(second_);
    ensemble_.lag(follower, 800ms);
    const auto w3 = acquire(third_);
    ensemble_.run_for(5s);
    h.release();
    expect_granted(w2);
    ensemble_.run_for(5s);
    EXPECT_FALSE(w3->done) << "what it sees is old, and not too old";
    w2->granted.release();
    expect_granted(w3);
}

TEST_F(WaitFaults, LeaderThatDiesBeforeTheHandOffDelaysItAndNoMore) {
    hold h = held(first_);
    const auto w2 = queued(second_);
    const auto w3 = queued(third_);
    const int leader = ensemble_.leader();
    h.release();
    ensemble_.run_for(500us);
    ensemble_.stop_server(leader);
    expect_granted(w2);
    EXPECT_FALSE(w3->done);
    ensemble_.start_server(leader);
    w2->granted.release();
    expect_granted(w3);
}

// ---- the end of the wait ----

TEST_F(WaitFaults, ThatEndWhileSuspendedLeaveNothingOnceTheConnectionIsBack) {
    hold h = held(first_);
    const auto w = acquire(second_, 2s);
    ensemble_.run_for(1s);
    ensemble_.suspend(b_.session_id());
    ASSERT_TRUE(ensemble_.run_until([&] { return w->done; }, 4s));
    EXPECT_TRUE(is_empty(w->granted));
    EXPECT_FALSE(w->ec);
    EXPECT_EQ(in_queue(), 2U) << "nobody can delete it now";
    ensemble_.resume(b_.session_id());
    ensemble_.run_for(2s);
    EXPECT_EQ(in_queue(), 1U);
    EXPECT_TRUE(h.valid());
}

}  // namespace
}  // namespace latchkey::test
