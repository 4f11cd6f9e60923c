// lock_options::lock_delay: after a holder that ended without a release, the lock stays taken.
#include <latchkey/barrier.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "lock_delay_fixture.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

// ---- after which end ----

TEST_F(LockDelay, FollowsAHolderThatEndsWithoutARelease) {
    const auto die_and_reconnect_the_waiter = [&](const hold&) {
        const auto died = die();
        ensemble_.run_for(2s);
        ensemble_.cut(b_.session_id());
        ensemble_.run_for(1s);
        ensemble_.move(b_.session_id(), follower());
        return died;
    };
    const auto be_broken = [&](const hold& h) {
        ensemble_.remove(h.path());
        return ensemble_.now();
    };
    const std::vector<std::pair<std::string, std::function<ensemble::duration(const hold&)>>> ends{
        {"its session ends", [&](const hold&) { return die(); }},
        {"the waiter reconnects meanwhile", die_and_reconnect_the_waiter},
        {"an operator breaks the hold", be_broken}};
    for (const auto& [name, end] : ends) {
        SCOPED_TRACE(name);
        const hold h = held(mine_);
        const auto next = queued(theirs_);
        expect_delayed(next, end(h));
        EXPECT_EQ(in_queue(), 1U) << "the record of the delay is deleted";
        const auto after = queued(third_);
        next->granted.release();
        expect_at_once(after, ensemble_.now());
    }
}

TEST_F(LockDelay, DoesNotFollowMaxHoldNorTheEndOfTheClient) {
    client c = connected();
    mutex timed(c, "/lock", {.max_hold = 3s, .lock_delay = delay});
    const hold h = held(timed);
    const auto next = acquire(theirs_);
    ensemble_.run_for(3s);
    expect_at_once(next, ensemble_.now());
    next->granted.release();
    const hold again = held(timed);
    c.close();
    expect_at_once(acquire(theirs_), ensemble_.now());
}

TEST_F(LockDelay, DoesNotFollowAWaiterThatDies) {
    hold h = held(theirs_);
    const auto dies = acquire(mine_);
    const auto next = acquire(third_);
    ensemble_.run_for(100ms);
    die();
    ensemble_.run_for(100ms);
    h.release();
    expect_at_once(next, ensemble_.now());
}

TEST_F(LockDelay, AfterABreakEndsWithTheReleaseOfTheBrokenHold) {
    hold h = held(mine_);
    const auto next = queued(theirs_);
    ensemble_.remove(h.path());
    ensemble_.run_for(2s);
    EXPECT_FALSE(h.valid());
    EXPECT_FALSE(next->done);
    h.release();
    expect_at_once(next, ensemble_.now());
}

// ---- for whom ----

TEST_F(LockDelay, IsThereForAParticipantThatComesLater) {
    const hold h = held(mine_);
    die();
    ensemble_.run_for(100ms);
    ensemble_.reap_containers();
    ensemble_.run_for(2s);
    const auto joined = ensemble_.now();
    expect_delayed(acquire(theirs_), joined);
}

TEST_F(LockDelay, IsWaitedForByTheNextIfTheFirstDiesTooOrTogetherWithTheHolder) {
    for (const bool together : {false, true}) {
        const hold h = held(mine_);
        const auto dies = queued(theirs_);
        const auto next = queued(third_);
        if (!together) {
            die();
            ensemble_.run_for(3s);
            EXPECT_FALSE(dies->done);
        }
        ensemble_.expire(b_.session_id());
        expect_delayed(next, together ? die() : ensemble_.now());
        next->granted.release();
        finish(dies);
        dies->granted.release();
        EXPECT_TRUE(left(0));
    }
}

TEST_F(LockDelay, IsLeftToTheHolderItselfToo) {
    hold h = held(mine_);
    const auto died = die();
    h.release();
    expect_granted(acquire(mine_));
    EXPECT_GE(ensemble_.now() - died, delay);
}

TEST_F(LockDelay, MakesATryFailAndEndsForTries) {
    const hold h = held(mine_);
    const auto died = die();
    ensemble_.run_for(100ms);
    while (ensemble_.now() - died < delay) {
        const auto tried = acquire(theirs_, 0s);
        ensemble_.run_for(500ms);
        expect_empty(tried, 0s);
    }
    ensemble_.run_for(200ms);
    const auto last = acquire(theirs_, 0s);
    expect_at_once(last, ensemble_.now());
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(LockDelay, IsNotBegunAnewByEachShortCall) {
    const hold h = held(mine_);
    const auto died = die();
    ensemble_.run_for(100ms);
    std::shared_ptr<attempt> last;
    do {
        last = acquire(theirs_, 700ms);
        EXPECT_FALSE(error_of(last, 2s)) << last->ec.message();
    } while (!last->granted && !HasFailure());
    EXPECT_GE(last->at - died, delay);
    EXPECT_LE(last->at - died, delay + 1s);
}

// ---- which locks ----

TEST_F(SharedLockDelay, OfAWriterIsWaitedForByReaders) {
    const hold h = held(mine_, exclusive);
    const auto one = acquire_as(theirs_, shared);
    const auto two = acquire_as(third_, shared);
    ensemble_.run_for(100ms);
    const auto died = die();
    expect_delayed(one, died);
    expect_delayed(two, died);
}

TEST_F(SharedLockDelay, IsOfUpgradeHoldsAndOfNoReaders) {
    for (const lock_mode mode : {upgrade, shared}) {
        const hold h = held(mine_, mode);
        const auto next = acquire_as(theirs_, exclusive);
        ensemble_.run_for(100ms);
        mode == upgrade ? expect_delayed(next, die()) : expect_at_once(next, die());
        next->granted.release();
        ensemble_.run_for(1s);
    }
}

TEST_F(SharedLockDelay, BeginsWithAnUpgradeAndEndsWithADowngrade) {
    for (const auto& [from, to] : {std::pair(exclusive, shared), std::pair(shared, exclusive)}) {
        const auto converted = convert(mine_, held(mine_, from), to);
        expect_granted(converted);
        const auto next = acquire_as(theirs_, from);
        ensemble_.run_for(100ms);
        EXPECT_EQ(in_queue("/shared") == 2, to == shared) << "the record of the delay";
        to == exclusive ? expect_delayed(next, die()) : expect_at_once(next, die());
        next->granted.release();
        ensemble_.run_for(1s);
    }
}

class MultiLockDelay : public LockDelay {
protected:
    multi_mutex mine_{a_, {"/x", "/y"}, {.lock_delay = delay}};
};

TEST_F(MultiLockDelay, IsOneInEachOfItsDirectories) {
    mutex x(b_, "/x");
    mutex y(c_, "/y");
    hold h = held(mine_);
    EXPECT_EQ(in_queue("/x") + in_queue("/y"), 4U);
    h.release();
    EXPECT_TRUE(left(0, "/x") && left(0, "/y"));
    h = held(mine_);
    const auto next_x = acquire(x);
    const auto next_y = acquire(y);
    ensemble_.run_for(100ms);
    const auto died = die();
    expect_delayed(next_x, died);
    expect_delayed(next_y, died);
}

TEST_F(MultiLockDelay, CountsForEachDirectoryByItself) {
    multi_mutex theirs(b_, {"/x", "/y"});
    const hold h = held(mine_);
    const auto next = acquire(theirs);
    ensemble_.run_for(100ms);
    ensemble_.remove(h.paths().front());
    ensemble_.run_for(3s);
    expect_delayed(next, die());
}

TEST_F(LockDelay, IsWaitedForByAMultiMutex) {
    multi_mutex theirs(b_, {"/lock", "/other"});
    const hold h = held(mine_);
    const auto next = acquire(theirs);
    ensemble_.run_for(100ms);
    expect_delayed(next, die());
}

TEST_F(LockDelay, IsOfARecursiveMutexAndOfNothingElse) {
    recursive_mutex(a_, "/lock", {.lock_delay = delay});
    EXPECT_THROW(semaphore(a_, "/s", 2, {.lock_delay = delay}), error);
    EXPECT_THROW(barrier(a_, "/b", {.lock_delay = delay}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.lock_delay = -1s}), error);
    EXPECT_THROW(mutex(a_, "/lock", {.lock_delay = 1h + 1ms}), error);
    mutex longest(a_, "/lock", {.lock_delay = 1h});
    held(longest).release();
}

}  // namespace
}  // namespace latchkey::test
