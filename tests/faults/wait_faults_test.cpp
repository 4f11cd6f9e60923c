#include "lock_fixture.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::test {
namespace {

/// What can go wrong between joining the queue and the grant.
class WaitFaults : public LockFaults {
protected:
    /// The third client joins, and its list is on its way back.
    std::shared_ptr<attempt> listing(mutex& m, const client& of) {
        ensemble_.reset_counters();
        auto w = acquire(m);
        EXPECT_TRUE(soon([&] { return ensemble_.count(of.session_id()).children == 1; }, 1s));
        ensemble_.run_for(one_way / 2);
        return w;
    }
};

// ---- the predecessor ----

TEST_F(WaitFaults, PredecessorThatGoesBetweenTheListAndTheWatchIsFollowedByAnotherList) {
    const hold h = held(mine_);
    ensemble_.run_for(1s);
    const auto w = listing(theirs_, b_);
    ensemble_.remove(h.path());
    expect_granted(w);
    EXPECT_EQ(ensemble_.count(b_.session_id()).children, 2U);
}

TEST_F(WaitFaults, PredecessorThatGoesBetweenTheListAndTheWatchIsNoGrantWhileTheHolderIsThere) {
    hold h = held(mine_);
    const auto w2 = queued(theirs_);
    const auto w3 = listing(third_, c_);
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_FALSE(w3->done) << "granted because its predecessor was not there";
    h.release();
    expect_granted_in_order(w3, w2);
}

TEST_F(WaitFaults, PredecessorThatLeavesTheQueueIsReplacedByTheOneBeforeIt) {
    for (const bool session_ends : {false, true}) {
        hold h = held(mine_);
        const auto w2 = queued(theirs_, session_ends ? for_ever : 1s);
        const auto w3 = queued(third_);
        if (session_ends) {
            ensemble_.suspend(b_.session_id());
            ensemble_.expire(b_.session_id());
            ensemble_.run_for(1s);
            EXPECT_EQ(ensemble_.open_watches(), 3U) << "the holder's own, the waiter's two";
        }
        ensemble_.run_for(5s);
        EXPECT_FALSE(w3->done) << session_ends;
        EXPECT_EQ(in_queue(), 2U);
        h.release();
        expect_granted(w3);
        EXPECT_EQ(w2->done, !session_ends);
    }
}

TEST_F(WaitFaults, ChangesOfTheDataAreNoDeletionsAndNothingElseIsWatched) {
    hold h = held(mine_);
    std::string own;
    const auto w = queued(theirs_, for_ever, {.reserved = [&](auto p) { own = p.path; }});
    const std::size_t watches = ensemble_.open_watches();
    for (int i = 0; i < 20; ++i) {
        ensemble_.set(h.path(), std::to_string(i));
        ensemble_.set(own, std::to_string(i));
        ensemble_.run_for(50ms);
        EXPECT_FALSE(w->done);
    }
    EXPECT_EQ(ensemble_.open_watches(), watches);
    EXPECT_TRUE(h.valid());
    h.release();
    expect_granted(w);
}

// ---- watches ----

TEST_F(WaitFaults, EventOfAnEarlierAttemptIsNoGrant) {
    hold h = held(mine_);
    const auto w2 = queued(theirs_);
    finish(acquire(third_, 1s), 10s);
    const auto late = queued(third_);
    // Both attempts of the third watched the second's znode.
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(500ms);
    EXPECT_FALSE(late->done);
    h.release();
    expect_granted_in_order(late, w2);
}

TEST_F(WaitFaults, DeletionWhileTheConnectionWasGoneIsLearntFromTheNextOne) {
    hold h = held(mine_);
    const auto w2 = queued(theirs_);
    const auto w3 = queued(third_);
    for (int server = 0; server < 3; ++server) {
        ensemble_.suspend(b_.session_id());
        ensemble_.run_for(500ms);
        ensemble_.move(b_.session_id(), server);
        ensemble_.resume(b_.session_id());
        ensemble_.run_for(500ms);
        ASSERT_FALSE(w2->done);
    }
    ensemble_.suspend(b_.session_id());
    ensemble_.run_for(2s);
    EXPECT_EQ(b_.state(), connection_state::suspended);
    h.release();
    ensemble_.run_for(1s);
    EXPECT_FALSE(w2->done) << "granted without a connection";
    EXPECT_FALSE(w3->done) << "it is not its turn";
    ensemble_.resume(b_.session_id());
    expect_granted_in_order(w2, w3);
}

TEST_F(WaitFaults, HundredsOfWaitersOfOneSessionSurviveItsReconnects) {
    constexpr std::size_t many = 300;
    hold h = held(mine_);
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
        finish(w, 10s);
        ASSERT_TRUE(w->granted.valid());
        w->granted.release();
    }
}

// ---- sessions and servers ----

TEST_F(WaitFaults, SessionThatEndsIsReportedToNobodyAndJoinsAnewAtTheTail) {
    hold h = held(mine_);
    const auto w2 = queued(theirs_);
    const auto w3 = queued(third_);
    ensemble_.expire(b_.session_id());
    ensemble_.run_for(5s);
    EXPECT_FALSE(w2->done);
    h.release();
    expect_granted_in_order(w3, w2);
    EXPECT_EQ(ensemble_.get(w2->granted.path())->ephemeral_owner, b_.session_id());
}

TEST_F(WaitFaults, OnAServerThatIsFarBehindTheTurnIsStillItsOwn) {
    const int behind = follower();
    ensemble_.move(a_.session_id(), ensemble_.leader());
    ensemble_.move(b_.session_id(), ensemble_.leader());
    ensemble_.move(c_.session_id(), behind);
    ensemble_.run_for(1s);
    hold h = held(mine_);
    const auto w2 = queued(theirs_);
    ensemble_.lag(behind, 800ms);
    const auto w3 = acquire(third_);
    ensemble_.run_for(5s);
    h.release();
    // What it sees is old, and not too old.
    expect_granted_in_order(w2, w3);
}

TEST_F(WaitFaults, ThatEndWhileSuspendedLeaveNothingOnceTheConnectionIsBack) {
    const hold h = held(mine_);
    const auto w = acquire(theirs_, 2s);
    ensemble_.run_for(1s);
    ensemble_.suspend(b_.session_id());
    expect_empty(w, 4s);
    EXPECT_EQ(in_queue(), 2U) << "nobody can delete it now";
    ensemble_.resume(b_.session_id());
    ensemble_.run_for(2s);
    EXPECT_EQ(in_queue(), 1U);
    EXPECT_TRUE(h.valid());
}

// ---- znodes that an operator deletes ----

using DeletedZnode = LockFaults;

TEST_F(DeletedZnode, OfAWaiterIsNoticedThoughItsWatchWasJustUsedUp) {
    for (const bool used_up : {false, true}) {
        const hold h = held(mine_);
        std::string own;
        const auto w = queued(theirs_, for_ever, {.reserved = [&](auto p) { own = p.path; }});
        const auto next = queued(third_);
        const std::string deleted = own;
        if (used_up) {  // one event tells of the change, and none of the deletion
            ensemble_.set(deleted, "changed");
        }
        ensemble_.remove(deleted);
        ensemble_.remove(h.path());
        ASSERT_TRUE(soon([&] { return next->done || w->done; }, 10s));
        EXPECT_FALSE(w->done) << "granted without a znode";
        expect_granted_in_order(next, w);  // it is at the tail now
    }
}

TEST_F(DeletedZnode, OfAHolderThatMayNotWatchItIsNoticedByTheHeartbeat) {
    ensemble_.refuse_next(op::get, no_auth, a_.session_id(), 1'000);
    const hold h = held(mine_);
    ensemble_.run_for(1s);
    ensemble_.remove(h.path());
    expect_lost(h, loss_reason::znode_deleted, 3s);
}

}  // namespace
}  // namespace latchkey::test
