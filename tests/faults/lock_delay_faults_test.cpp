// lock_options::lock_delay beside other libraries, what it costs, and when requests are lost.
#include "client/client_core.hpp"
#include "every_step.hpp"
#include "lock_delay_fixture.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using op = ensemble::request_kind;
using when = ensemble::when;

using LockDelayFaults = LockDelay;

// ---- beside others ----

TEST_F(LockDelayFaults, IsNotForParticipantsThatKnowNothingOfIt) {
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

TEST_F(LockDelayFaults, IsNoBusinessOfAnUnawareParticipantThatLeavesOrWaits) {
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

TEST_F(LockDelayFaults, CostsAWriteAndARoundTripOfThoseThatHaveOne) {
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

TEST_F(LockDelayFaults, CostsAListOfTheOneBehind) {
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

TEST_F(LockDelayFaults, CostsNothingOnAPathWhereNobodyHasOne) {
    hold h = held(third_);
    const auto next = acquire(theirs_);
    ensemble_.run_for(1s);
    settle();
    h.release();
    expect_granted(next);
    EXPECT_EQ(ensemble_.count(b_.session_id()).requests(), 0U);
}

// ---- whatever fails ----

TEST_F(LockDelayFaults, FollowsWheneverTheSessionOfAHolderEnds) {
    int delayed = 0;
    int at_once = 0;
    const auto begin = [&] {
        auto mine = acquire(mine_);
        auto next = acquire(theirs_);
        return std::pair(std::move(mine), std::move(next));
    };
    const auto end = [&](auto& both) {
        const auto& mine = both.first;  // clang 14 captures no structured bindings
        const auto& next = both.second;
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
    EXPECT_GT(delayed, 5);
    EXPECT_GT(at_once, 5);
}

TEST_F(LockDelayFaults, DoesNotFollowAReleaseWhoseRequestsOrAnswersAreLost) {
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

TEST_F(LockDelayFaults, LeavesNothingBehindWhereAnAcquireIsGivenUpOrCut) {
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

TEST_F(LockDelayFaults, IsGrantedOnceWhereTheAnswerToItsRecordIsLost) {
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

/// A holder whose znode was broken deletes its record alone. A server keeps that request until an
/// operator has removed the directory, and another holder has the same number and delay in a new
/// one.
TEST_F(LockDelayFaults, RecordIsNotDeletedByALateRequestOfAnEarlierDirectory) {
    const auto record_of = [&](const hold& h) {
        for (const std::string& name : ensemble_.children("/lock")) {
            if (const std::string path = "/lock/" + name; path != h.path()) {
                return path;
            }
        }
        return std::string();
    };
    const auto number_of = [](const hold& h) { return h.path().substr(h.path().size() - 10); };
    hold first = held(mine_);
    const std::string late = record_of(first);
    const std::string number = number_of(first);
    ensemble_.remove(first.path());
    ensemble_.run_for(100ms);
    first.release();
    EXPECT_TRUE(ensemble_.run_until([&] { return in_queue() == 0; }, 10s));
    ensemble_.remove("/lock");

    mutex again(b_, "/lock", {.lock_delay = delay});
    const hold h = held(again);
    ASSERT_EQ(number_of(h), number);
    const std::string record = record_of(h);
    bool answered = false;
    client_core& core = *client_core::of(a_);
    core.post([&] { core.submit(request::remove(late), [&](const reply&) { answered = true; }); });
    ASSERT_TRUE(ensemble_.run_until([&] { return answered; }, 1s));
    EXPECT_TRUE(ensemble_.exists(record));
    const auto next = acquire(third_);
    ensemble_.run_for(100ms);
    ensemble_.expire(b_.session_id());
    expect_delayed(next, ensemble_.now());
}

}  // namespace
}  // namespace latchkey::test
