// lock_options::lock_delay: after a holder that ended without a release, the lock stays taken.
#include <latchkey/barrier.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "every_step.hpp"
#include "stepped_test.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;
using when = ensemble::when;

constexpr auto delay = 5s;

class LockDelay : public SteppedTest {
protected:
    /// Of the session of a_; returns when.
    ensemble::duration die() {
        ensemble_.expire(a_.session_id());
        return ensemble_.now();
    }

    /// It takes the delay, by the clock of the one that waits, and a few messages.
    void expect_delayed(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_GE(next->at - since, delay);
        EXPECT_LE(next->at - since, delay + 10 * round_trip);
    }

    void expect_at_once(const std::shared_ptr<attempt>& next, ensemble::duration since) {
        expect_granted(next);
        EXPECT_LE(next->at - since, 10 * round_trip);
    }

    /// A participant of a library that knows no delays.
    std::string join_unaware(client& c, const std::string& path) {
        std::string joined;
        c.async_transact({operation::create(path + "/_c_4d8c7e2a-1b7d-4a57-9e5c-3f0f3cf0a6d1-lock-",
                                            "",
                                            operation::lifetime::ephemeral_sequential)},
                         [&](std::error_code, const std::vector<operation_result>& results) {
                             joined = results.empty() ? "" : results.front().path;
                         });
        EXPECT_TRUE(ensemble_.run_until([&] { return !joined.empty(); }, 10s));
        return joined;
    }

    hold held_as(shared_mutex& m, lock_mode mode) {
        const auto a = std::make_shared<attempt>();
        start(m, mode, a);
        expect_granted(a);
        return std::move(a->granted);
    }

    std::shared_ptr<attempt> wait_as(shared_mutex& m, lock_mode mode) {
        auto a = std::make_shared<attempt>();
        start(m, mode, a);
        return a;
    }

    client a_ = connected();
    client b_ = connected();
    client c_ = connected();
    mutex mine_{a_, "/lock", {.lock_delay = delay}};
    mutex theirs_{b_, "/lock"};
    mutex third_{c_, "/lock"};

private:
    void start(shared_mutex& m, lock_mode mode, const std::shared_ptr<attempt>& a) {
        m.async_acquire(mode, {}, [this, a](std::error_code ec, hold h) {
            a->done = true;
            a->ec = ec;
            a->granted = std::move(h);
            a->at = ensemble_.now();
        });
    }
};

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
    const hold h = held_as(mine, lock_mode::exclusive);
    const auto one = wait_as(theirs, lock_mode::shared);
    const auto two = wait_as(third, lock_mode::shared);
    ensemble_.run_for(100ms);
    const auto died = die();
    expect_delayed(one, died);
    expect_delayed(two, died);
}

TEST_F(LockDelay, IsOfUpgradeHoldsAndOfNoReaders) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    {
        const hold h = held_as(mine, lock_mode::upgrade);
        const auto next = wait_as(theirs, lock_mode::exclusive);
        ensemble_.run_for(100ms);
        expect_delayed(next, die());
    }
    ensemble_.run_for(1s);
    const hold h = held_as(mine, lock_mode::shared);
    const auto next = wait_as(theirs, lock_mode::exclusive);
    ensemble_.run_for(100ms);
    expect_at_once(next, die());
}

TEST_F(LockDelay, EndsWithADowngradeToAReader) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    const auto converted = std::make_shared<attempt>();
    mine.async_convert(held_as(mine, lock_mode::exclusive),
                       lock_mode::shared,
                       {},
                       [converted](std::error_code, hold h) {
                           converted->done = true;
                           converted->granted = std::move(h);
                       });
    ASSERT_TRUE(ensemble_.run_until([&] { return converted->done; }, 10s));
    EXPECT_TRUE(converted->granted.valid());
    const auto next = wait_as(theirs, lock_mode::exclusive);
    ensemble_.run_for(100ms);
    EXPECT_EQ(in_queue("/shared"), 2U);
    expect_at_once(next, die());
}

TEST_F(LockDelay, BeginsWithAnUpgradeOfAReader) {
    shared_mutex mine(a_, "/shared", {.lock_delay = delay});
    shared_mutex theirs(b_, "/shared");
    const auto converted = std::make_shared<attempt>();
    mine.async_convert(held_as(mine, lock_mode::shared),
                       lock_mode::exclusive,
                       {},
                       [converted](std::error_code, hold h) {
                           converted->done = true;
                           converted->granted = std::move(h);
                       });
    ASSERT_TRUE(ensemble_.run_until([&] { return converted->done; }, 10s));
    const auto next = wait_as(theirs, lock_mode::shared);
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

// ---- beside others ----

TEST_F(LockDelay, IsNotForParticipantsThatKnowNothingOfIt) {
    const hold h = held(mine_);
    const std::string unaware = join_unaware(b_, "/lock");
    const auto next = acquire(third_);
    ensemble_.run_for(100ms);
    die();
    ensemble_.run_for(100ms);
    // It is the lowest, and so it holds. What comes behind it waits for it, and then the delay.
    ensemble_.run_for(delay);
    EXPECT_FALSE(next->done);
    ensemble_.remove(unaware);
    expect_delayed(next, ensemble_.now());
}

TEST_F(LockDelay, IsNoBusinessOfAnUnawareParticipantThatLeavesOrWaits) {
    held(mine_).release();
    const std::string unaware = join_unaware(b_, "/lock");
    const auto mine = acquire(mine_);
    ensemble_.run_for(100ms);
    ensemble_.remove(unaware);
    expect_at_once(mine, ensemble_.now());
    const std::string behind = join_unaware(b_, "/lock");
    mine->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.children("/lock"), std::vector{behind.substr(6)});
}

// ---- what it costs ----

TEST_F(LockDelay, CostsAWriteAndARoundTripOfThoseThatHaveOne) {
    held(mine_).release();
    settle();
    const auto before = ensemble_.now();
    const auto a = acquire(mine_);
    expect_granted(a);
    EXPECT_EQ(a->at - before, 2 * round_trip);
    EXPECT_EQ(ensemble_.count().requests(), 3U);
    ensemble_.reset_counters();
    a->granted.release();
    ensemble_.run_for(9ms);
    EXPECT_EQ(ensemble_.count().multis, 1U);
    EXPECT_EQ(ensemble_.count().requests(), 1U);
}

TEST_F(LockDelay, CostsAListOfTheOneBehind) {
    held(theirs_).release();
    hold h = held(mine_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(1s);
    settle();
    h.release();
    const auto before = ensemble_.now();
    expect_granted(next);
    EXPECT_LE(next->at - before, 2 * round_trip);
    EXPECT_EQ(ensemble_.count(b_.session_id()).requests(), 1U);
    EXPECT_EQ(ensemble_.count(b_.session_id()).children, 1U);
}

TEST_F(LockDelay, CostsNothingOnAPathWhereNobodyHasOne) {
    hold h = held(third_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(1s);
    settle();
    h.release();
    expect_granted(next);
    EXPECT_EQ(ensemble_.count(b_.session_id()).requests(), 0U);
}

// ---- whatever fails ----

TEST_F(LockDelay, FollowsWheneverTheSessionOfAHolderEnds) {
    int delayed = 0;
    int at_once = 0;
    const auto begin = [&] {
        auto mine = acquire(mine_);
        auto next = acquire(theirs_);
        return std::pair(std::move(mine), std::move(next));
    };
    const auto end = [&](auto& both) {
        auto& [mine, next] = both;
        const bool was_granted = mine->done;
        const auto died = die();
        expect_granted(next);
        if (was_granted) {
            EXPECT_GE(next->at - died, delay);
        }
        (next->at - died >= delay ? delayed : at_once) += 1;
        next->granted.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return mine->done; }, 10s));
        mine->granted.release();
        EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
    };
    held(mine_).release();
    held(theirs_).release();
    ensemble_.run_for(100ms);
    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 12ms, .at_least = one_way / 4}, begin, [](auto&) {}, end);
    EXPECT_GT(rounds, 48);
    EXPECT_GT(delayed, 10);
    EXPECT_GT(at_once, 5);
}

TEST_F(LockDelay, DoesNotFollowAReleaseWhoseRequestsOrAnswersAreLost) {
    const std::vector<std::function<void()>> faults{
        [&] { ensemble_.cut(a_.session_id()); },
        [&] { ensemble_.cut(b_.session_id()); },
        [&] {
            ensemble_.cut(a_.session_id());
            ensemble_.cut(b_.session_id());
        },
        [&] { ensemble_.refuse_next(op::multi, -7, a_.session_id()); },
        [&] { ensemble_.refuse_next(op::multi, -7, a_.session_id(), 1, when::after); },
    };
    held(mine_).release();
    held(theirs_).release();
    for (const auto& fault : faults) {
        const auto begin = [&] {
            hold mine = held(mine_);
            auto next = acquire(theirs_);
            ensemble_.run_for(100ms);
            mine.release();
            return next;
        };
        const auto end = [&](const std::shared_ptr<attempt>& next) {
            const auto since = ensemble_.now();
            expect_granted(next);
            EXPECT_LE(next->at - since, 2s) << "no delay";
            next->granted.release();
            EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
        };
        at_every_step(
            {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4},
            begin,
            [&](auto&) { fault(); },
            end);
    }
}

TEST_F(LockDelay, LeavesNothingBehindWhereAnAcquireIsGivenUpOrCut) {
    held(mine_).release();
    for (const bool cut : {false, true}) {
        std::stop_source stop;
        const auto begin = [&] {
            stop = {};
            return acquire(mine_, 60s, {.stop = stop.get_token(), .reserved = {}});
        };
        const auto happens = [&](auto&) {
            stop.request_stop();
            if (cut) {
                ensemble_.cut(a_.session_id());
            }
        };
        const auto end = [&](const std::shared_ptr<attempt>& a) {
            ASSERT_TRUE(ensemble_.run_until([&] { return a->done; }, 10s));
            a->granted.release();
            EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
        };
        at_every_step(
            {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4}, begin, happens, end);
    }
}

TEST_F(LockDelay, IsGrantedOnceWhereTheAnswerToItsRecordIsLost) {
    for (const when w : {when::before, when::after}) {
        ensemble_.fail_next(op::multi, w, a_.session_id());
        hold h = held(mine_);
        EXPECT_EQ(in_queue(), 2U);
        const auto next = acquire(theirs_);
        ensemble_.run_for(100ms);
        expect_delayed(next, die());
        next->granted.release();
        ensemble_.run_for(1s);
    }
}

}  // namespace
}  // namespace latchkey::test
