// lock_options::lock_delay beside other libraries, what it costs, and when requests are lost.
#include "every_step.hpp"
#include "lock_delay_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using when = ensemble::when;

class LockDelayFaults : public LockDelay {
protected:
    /// A participant of a library that knows no delays.
    std::string join_unaware() {
        const auto before = ensemble_.children("/lock");
        EXPECT_FALSE(error_of_transaction(
            b_,
            operation::create("/lock/_c_4d8c7e2a-1b7d-4a57-9e5c-3f0f3cf0a6d1-lock-",
                              "",
                              operation::lifetime::ephemeral_sequential)));
        for (const std::string& name : ensemble_.children("/lock")) {
            if (std::find(before.begin(), before.end(), name) == before.end()) {
                return "/lock/" + name;
            }
        }
        return {};
    }

    void play(std::function<std::shared_ptr<attempt>()> begin,
              const std::function<void()>& happens,
              std::function<void(const std::shared_ptr<attempt>&)> end) {
        at_every_step(
            {.of = ensemble_, .stretch = 8ms, .at_least = one_way / 4},
            std::move(begin),
            [&](const auto&) { happens(); },
            [&](const auto& a) {
                end(a);
                a->granted.release();
                EXPECT_TRUE(left(0));
            });
    }
};

// ---- beside others ----

TEST_F(LockDelayFaults, IsNotForParticipantsThatKnowNothingOfIt) {
    const hold h = held(mine_);
    const std::string unaware = join_unaware();
    const auto next = queued(third_);
    die();
    // It is the lowest, and so it holds. What comes behind it waits for it, and then the delay.
    ensemble_.run_for(delay + 100ms);
    EXPECT_FALSE(next->done);
    ensemble_.remove(unaware);
    expect_delayed(next, ensemble_.now());
}

TEST_F(LockDelayFaults, IsNoBusinessOfAnUnawareParticipantThatLeavesOrWaits) {
    warm_up(mine_);
    const std::string unaware = join_unaware();
    const auto mine = queued(mine_);
    ensemble_.remove(unaware);
    expect_at_once(mine, ensemble_.now());
    const std::string behind = join_unaware();
    mine->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_EQ(ensemble_.children("/lock"), std::vector{behind.substr(6)});
}

// ---- what it costs ----

TEST_F(LockDelayFaults, CostsAWriteAndARoundTripOfThoseThatHaveOne) {
    warm_up(mine_);
    const auto before = ensemble_.now();
    const auto a = acquire(mine_);
    expect_granted(a);
    EXPECT_EQ(a->at - before, 2 * round_trip);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 3U);
    ensemble_.reset_counters();
    a->granted.release();
    ensemble_.run_for(9ms);
    EXPECT_EQ(ensemble_.count(a_.session_id()).multis, 1U);
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 1U);
}

TEST_F(LockDelayFaults, CostsAListOfTheOneBehindAndNothingOnAPathWhereNobodyHasOne) {
    held(theirs_).release();
    for (mutex* const first : {&third_, &mine_}) {
        hold h = held(*first);
        const auto next = queued(theirs_);
        ensemble_.run_for(1s);
        settle();
        h.release();
        const auto before = ensemble_.now();
        expect_granted(next);
        EXPECT_LE(next->at - before, 2 * round_trip);
        const std::size_t lists = first == &mine_ ? 1 : 0;
        EXPECT_EQ(ensemble_.count(b_.session_id()).children, lists);
        EXPECT_EQ(ensemble_.count(b_.session_id()).requests(), lists);
    }
}

// ---- whatever fails ----

TEST_F(LockDelayFaults, FollowsWheneverTheSessionOfAHolderEnds) {
    int delayed = 0;
    int at_once = 0;
    held(mine_).release();
    warm_up(theirs_);
    const int rounds = at_every_step(
        {.of = ensemble_, .stretch = 12ms, .at_least = one_way / 4},
        [&] {
            auto mine = acquire(mine_);
            return std::pair(std::move(mine), acquire(theirs_));
        },
        [](auto&) {},
        [&](auto& both) {
            const auto& mine = both.first;  // clang 14 captures no structured bindings
            const auto& next = both.second;
            const bool was_granted = mine->done;
            const auto died = die();
            expect_granted(next);
            const bool is_delayed = next->at - died >= delay;
            EXPECT_TRUE(is_delayed || !was_granted);
            (is_delayed ? delayed : at_once) += 1;
            next->granted.release();
            finish(mine);
            mine->granted.release();
            EXPECT_TRUE(left(0));
        });
    EXPECT_GT(rounds, 48);
    EXPECT_GT(delayed, 5);
    EXPECT_GT(at_once, 5);
}

TEST_F(LockDelayFaults, DoesNotFollowAReleaseWhoseRequestsOrAnswersAreLost) {
    const auto cut = [&](const client& c) { ensemble_.cut(c.session_id()); };
    const std::vector<named_step> faults{
        {"its connection breaks", [&] { cut(a_); }},
        {"the waiter's connection breaks", [&] { cut(b_); }},
        {"both break",
         [&] {
             cut(a_);
             cut(b_);
         }},
        {"not applied", [&] { ensemble_.refuse_next(op::multi, -7, a_.session_id()); }},
        {"applied",
         [&] { ensemble_.refuse_next(op::multi, -7, a_.session_id(), 1, when::after); }}};
    held(mine_).release();
    held(theirs_).release();
    for (const named_step& fault : faults) {
        SCOPED_TRACE(fault.name);
        play(
            [&] {
                hold mine = held(mine_);
                auto next = queued(theirs_);
                mine.release();
                return next;
            },
            fault.happens,
            [&](const auto& next) {
                const auto since = ensemble_.now();
                expect_granted(next);
                EXPECT_LE(next->at - since, 2s) << "no delay";
            });
    }
}

TEST_F(LockDelayFaults, LeavesNothingBehindWhereAnAcquireIsGivenUpOrCut) {
    held(mine_).release();
    for (const bool cut : {false, true}) {
        std::stop_source stop;
        play(
            [&] {
                stop = {};
                return acquire(mine_, 60s, {.stop = stop.get_token(), .reserved = {}});
            },
            [&] {
                stop.request_stop();
                if (cut) {
                    ensemble_.cut(a_.session_id());
                }
            },
            [&](const auto& a) { finish(a, 10s); });
    }
}

TEST_F(LockDelayFaults, IsGrantedOnceWhereTheAnswerToItsRecordIsLost) {
    for (const when w : {when::before, when::after}) {
        ensemble_.fail_next(op::multi, w, a_.session_id());
        hold h = held(mine_);
        EXPECT_EQ(in_queue(), 2U);
        const auto next = queued(theirs_);
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
    EXPECT_TRUE(left(0));
    ensemble_.remove("/lock");

    mutex again(b_, "/lock", {.lock_delay = delay});
    const hold h = held(again);
    ASSERT_EQ(number_of(h), number);
    const std::string record = record_of(h);
    arrives_late(a_, request::remove(late));
    EXPECT_TRUE(ensemble_.exists(record));
    const auto next = queued(third_);
    ensemble_.expire(b_.session_id());
    expect_delayed(next, ensemble_.now());
}

}  // namespace
}  // namespace latchkey::test
