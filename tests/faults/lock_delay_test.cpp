// lock_options::lock_delay: after a holder that ended without a release, the lock stays taken.
#include <latchkey/barrier.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>

#include "lock_delay_fixture.hpp"

#include <memory>
#include <utility>

namespace latchkey::test {
namespace {

// ---- after which end ----

TEST_F(LockDelay, FollowsAHolderWhoseSessionEnds) {
    const hold h = held(mine_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(100ms);
    expect_delayed(next, die());
    EXPECT_EQ(in_queue(), 1U) << "the record of the delay is deleted";
    const auto after = acquire(third_);
    ensemble_.run_for(100ms);
    next->granted.release();
    expect_at_once(after, ensemble_.now());
}

TEST_F(LockDelay, DoesNotFollowARelease) {
    hold h = held(mine_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(100ms);
    h.release();
    expect_at_once(next, ensemble_.now());
    next->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue(), 0U);
}

TEST_F(LockDelay, DoesNotFollowMaxHoldNorTheEndOfTheClient) {
    {
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
    auto next = acquire(theirs_);
    ensemble_.run_for(100ms);
    ensemble_.remove(h.path());
    ensemble_.run_for(2s);
    EXPECT_FALSE(h.valid());
    EXPECT_FALSE(next->done);
    h.release();
    expect_at_once(next, ensemble_.now());
    next->granted.release();

    const hold kept = held(mine_);
    next = acquire(theirs_);
    ensemble_.run_for(100ms);
    ensemble_.remove(kept.path());
    expect_delayed(next, ensemble_.now());
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

TEST_F(LockDelay, IsWaitedForByTheNextIfTheFirstDiesToo) {
    const hold h = held(mine_);
    const auto dies = acquire(theirs_);
    ensemble_.run_for(100ms);
    const auto next = acquire(third_);
    ensemble_.run_for(100ms);
    die();
    ensemble_.run_for(3s);
    EXPECT_FALSE(dies->done);
    ensemble_.expire(b_.session_id());
    expect_delayed(next, ensemble_.now());
}

TEST_F(LockDelay, IsWaitedForIfTheHolderAndTheFirstWaiterDieTogether) {
    const hold h = held(mine_);
    const auto dies = acquire(theirs_);
    ensemble_.run_for(100ms);
    const auto next = acquire(third_);
    ensemble_.run_for(100ms);
    ensemble_.expire(b_.session_id());
    expect_delayed(next, die());
}

TEST_F(LockDelay, GoesOnWhileTheWaiterReconnects) {
    const hold h = held(mine_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(100ms);
    const auto died = die();
    ensemble_.run_for(2s);
    ensemble_.cut(b_.session_id());
    ensemble_.run_for(1s);
    ensemble_.move(b_.session_id(), (ensemble_.leader() + 1) % 3);
    expect_delayed(next, died);
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
        EXPECT_TRUE(tried->done);
        EXPECT_FALSE(tried->ec) << tried->ec.message();
        EXPECT_FALSE(tried->granted);
    }
    ensemble_.run_for(200ms);
    expect_at_once(acquire(theirs_, 0s), ensemble_.now());
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(LockDelay, IsNotBegunAnewByEachShortCall) {
    const hold h = held(mine_);
    const auto died = die();
    ensemble_.run_for(100ms);
    std::shared_ptr<attempt> last;
    do {
        last = acquire(theirs_, 700ms);
        ASSERT_TRUE(ensemble_.run_until([&] { return last->done; }, 2s));
        EXPECT_FALSE(last->ec) << last->ec.message();
    } while (!last->granted);
    EXPECT_GE(last->at - died, delay);
    EXPECT_LE(last->at - died, delay + 1s);
}

// ---- which locks ----

TEST_F(LockDelay, OfAWriterIsWaitedForByReaders) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    shared_mutex third(c_, "/shared");
    const hold h = held(mine, lock_mode::exclusive);
    const auto one = acquire_as(theirs, lock_mode::shared);
    const auto two = acquire_as(third, lock_mode::shared);
    ensemble_.run_for(100ms);
    const auto died = die();
    expect_delayed(one, died);
    expect_delayed(two, died);
}

TEST_F(LockDelay, IsOfUpgradeHoldsAndOfNoReaders) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    {
        const hold h = held(mine, lock_mode::upgrade);
        const auto next = acquire_as(theirs, lock_mode::exclusive);
        ensemble_.run_for(100ms);
        expect_delayed(next, die());
    }
    ensemble_.run_for(1s);
    const hold h = held(mine, lock_mode::shared);
    const auto next = acquire_as(theirs, lock_mode::exclusive);
    ensemble_.run_for(100ms);
    expect_at_once(next, die());
}

TEST_F(LockDelay, EndsWithADowngradeToAReader) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    const auto converted = std::make_shared<attempt>();
    mine.async_convert(held(mine, lock_mode::exclusive),
                       lock_mode::shared,
                       {},
                       [converted](std::error_code, hold h) {
                           converted->done = true;
                           converted->granted = std::move(h);
                       });
    ASSERT_TRUE(ensemble_.run_until([&] { return converted->done; }, 10s));
    EXPECT_TRUE(converted->granted.valid());
    const auto next = acquire_as(theirs, lock_mode::exclusive);
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue("/shared"), 2U);
    expect_at_once(next, die());
}

TEST_F(LockDelay, BeginsWithAnUpgradeOfAReader) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    const auto converted = std::make_shared<attempt>();
    mine.async_convert(held(mine, lock_mode::shared),
                       lock_mode::exclusive,
                       {},
                       [converted](std::error_code, hold h) {
                           converted->done = true;
                           converted->granted = std::move(h);
                       });
    ASSERT_TRUE(ensemble_.run_until([&] { return converted->done; }, 10s));
    const auto next = acquire_as(theirs, lock_mode::shared);
    ensemble_.run_for(100ms);
    expect_delayed(next, die());
}

TEST_F(LockDelay, OfAMultiMutexIsOneInEachOfItsDirectories) {
    multi_mutex mine(a_, {"/x", "/y"}, {.lock_delay = delay});
    mutex x(b_, "/x");
    mutex y(c_, "/y");
    hold h = held(mine);
    EXPECT_EQ(in_queue("/x") + in_queue("/y"), 4U);
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue("/x") + in_queue("/y"), 0U);
    h = held(mine);
    const auto next_x = acquire(x);
    const auto next_y = acquire(y);
    ensemble_.run_for(100ms);
    const auto died = die();
    expect_delayed(next_x, died);
    expect_delayed(next_y, died);
}

TEST_F(LockDelay, OfAMultiMutexCountsForEachDirectoryByItself) {
    multi_mutex mine(a_, {"/x", "/y"}, {.lock_delay = delay});
    multi_mutex theirs(b_, {"/x", "/y"});
    const hold h = held(mine);
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
