// lock_options::local_passes and local_time.
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "any_lock.hpp"
#include "local_turns_fixture.hpp"
#include "lock/exclusive_lock.hpp"
#include "queue/local_queue.hpp"
#include "queue/place_turns.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

using enum lock_mode;

TEST_F(LocalTurns, PassTheLockFromCallerToCallerWithoutARequest) {
    const lock_options one_pass{.local_passes = 1};
    for (const kind_of_lock& kind :
         {lock_at<mutex>("mutex", "/lock", one_pass),
          lock_at<shared_mutex>("writer", "/lock", one_pass, exclusive)}) {
        SCOPED_TRACE(kind.name);
        const any_lock mine = kind.make(a_);
        auto present = held(mine);
        settle();
        std::vector<std::shared_ptr<attempt>> callers;
        for (int i = 0; i < 5; ++i) {
            callers.push_back(acquire(mine));
        }
        ensemble_.run_for(1ms);
        for (const auto& next : callers) {
            EXPECT_FALSE(next->done);
            const auto token = present.token();
            present.release();
            expect_granted(next, 1ms);
            EXPECT_GT(next->granted.token(), token);
            present = std::move(next->granted);
        }
        EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 0U);
        present.release();
        ensemble_.run_for(100ms);
        EXPECT_TRUE(is_free()) << "nobody wants it, and it is not to be retained";
    }
}

// Without the option it ends at once, and with a limit of turns or of time soon.
TEST_F(LocalTurns, EndSoonOnceAnotherParticipantWaits) {
    const std::vector<std::pair<lock_options, std::size_t>> turns_left{
        {{}, 0}, {{.local_passes = UINT32_MAX, .local_time = 1s}, 0}, {{.local_passes = 2}, 2}};
    for (const auto& [options, turns] : turns_left) {
        SCOPED_TRACE(std::to_string(options.local_passes) + " passes");
        mutex mine(a_, "/lock", options);
        auto present = held(mine);
        const auto other = queued(theirs_);
        ensemble_.run_for(2s);
        std::vector<std::shared_ptr<attempt>> callers;
        for (int i = 0; i < 4; ++i) {
            callers.push_back(acquire(mine));
        }
        ensemble_.run_for(100ms);
        for (std::size_t i = 0; i < turns; ++i) {
            present.release();
            expect_granted(callers[i], 1ms);
            present = std::move(callers[i]->granted);
        }
        present.release();
        expect_granted(other, 100ms);
        EXPECT_FALSE(callers[turns]->done);
        other->granted.release();
        for (std::size_t i = turns; i < callers.size(); ++i) {
            expect_granted(callers[i], 1s);
            callers[i]->granted.release();
        }
    }
}

TEST_F(LocalTurns, EndWithATransactionOfUnknownOutcome) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    auto present = held(mine);
    settle();
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    const std::string path = present.path();
    present.async_transact({operation::create("/late", "")},
                           [](std::error_code, const std::vector<operation_result>&) {});
    present.release();
    expect_granted(next, 1s);
    EXPECT_NE(next->granted.path(), path) << "the answer was not there when it was released";
}

TEST_F(LocalTurns, EndWithACallerThatGivesUp) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    auto present = held(mine);
    settle();
    expect_empty(acquire(mine, 500ms), 1s);
    present.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

// Between a call's registration and its start, as when its thread is preempted there.
TEST_F(LocalTurns, EndWithACallerThatNeverBegins) {
    const auto core = client_core::of(a_);
    for (const std::chrono::nanoseconds retention : {0ns, 100'000'000ns}) {
        for (const bool is_canceled : {false, true}) {
            const auto recipe = std::make_shared<const queue_recipe>(
                mutex_queue_of(*core, "/lock", {.local_passes = 10, .retain_for = retention}));
            const auto queue =
                std::make_shared<local_queue>(core,
                                              local_queue::admits::one_at_a_time,
                                              std::make_shared<place_turns>(core, recipe));
            hold present;
            queue->call(recipe, nullptr)->start(for_ever, {}, [&](acquire_call::result r) {
                present = std::move(r.value);
            });
            ASSERT_TRUE(soon([&] { return !is_empty(present); }));
            settle();
            auto late = queue->call(recipe, nullptr);
            present.release();
            settle();
            EXPECT_FALSE(is_free()) << "it is kept for the one that comes";
            if (is_canceled) {
                std::stop_source stop;
                stop.request_stop();
                late->start(for_ever, stop.get_token(), [](const auto& r) {
                    EXPECT_TRUE(is_empty(r.value));
                });
            }
            late.reset();
            ensemble_.run_for(retention + 100ms);
            EXPECT_TRUE(is_free());
        }
    }
}

// One thread asks a hold for its token while another one releases it.
TEST_F(LocalTurns, GiveNoTokenAboveThatOfALaterTurn) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    hold before = held(mine);
    const auto second = acquire(mine);
    const auto third = acquire(mine);
    before.release();
    finish(second);
    const auto state = hold_state::of(second->granted);
    second->granted.release();
    finish(third);
    const fencing_token last = third->granted.token();
    EXPECT_LT(state->token(), last);
}

TEST_F(LocalTurns, AreNotPassedForLongByAThreadThatNeverRests) {
    const auto core = client_core::of(a_);
    const auto as = std::make_shared<const queue_recipe>(
        mutex_queue_of(*core, "/lock", {.local_passes = UINT32_MAX, .retain_for = 1h}));
    const auto queue = std::make_shared<local_queue>(
        core, local_queue::admits::one_at_a_time, std::make_shared<place_turns>(core, as));
    std::vector<hold> granted;
    for (int i = 0; i < 3; ++i) {
        queue->call(as, nullptr)->start(no_timeout, {}, [&](acquire_call::result r) {
            granted.push_back(std::move(r.value));
        });
    }
    settle();
    ASSERT_EQ(granted.size(), 1U);
    std::exchange(granted.front(), {}).release();
    ensemble_.run_for(1ms);
    ASSERT_EQ(granted.size(), 2U);
    hold greedy = std::move(granted.back());
    for (int i = 0; i < 10 && greedy.valid(); ++i) {
        ensemble_.run_for(2ms);
        greedy.release();
        greedy = queue->take_turn();
    }
    EXPECT_FALSE(greedy.valid());
    ensemble_.run_for(1ms);
    EXPECT_EQ(granted.size(), 3U);
    queue->retire();
}

TEST_F(LocalTurns, CostOneListAGrantAndNoneOfItsWaiters) {
    mutex mine(a_, "/lock", {.local_passes = 10});
    warm_up(mine);
    const hold h = held(mine);
    ensemble_.run_for(5ms);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 2U) << "one belongs to the create";
    EXPECT_EQ(ensemble_.count(a_.session_id()).requests(), 3U);
    mutex waits(b_, "/lock", {.local_passes = 10});
    settle();
    const auto other = acquire(waits);
    ensemble_.run_for(1s);
    EXPECT_EQ(ensemble_.count(b_.session_id()).children, 1U);
    EXPECT_EQ(ensemble_.count(a_.session_id()).children, 1U) << "another participant has come";
}

// ---- options ----

template <class Lock>
std::string refusal_of(const client& c, lock_options o) {
    try {
        const Lock refused(c, "/lock", std::move(o));
    } catch (const error& e) {
        return e.code() == errc::invalid_argument ? e.what() : "another error";
    }
    return "";
}

TEST_F(LocalTurns, CannotBeCombinedWithTimesOfOneHold) {
    EXPECT_NE(refusal_of<mutex>(a_, {.max_hold = 1s, .local_passes = 1}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.min_hold = 1s, .retain_for = 1s}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.retain_for = -1s}), "");
    EXPECT_NE(refusal_of<mutex>(a_, {.local_time = 1s}), "");
    EXPECT_EQ(refusal_of<recursive_mutex>(a_, {.lock_delay = 1s, .local_passes = 1}), "");
}

TEST_F(LocalTurns, AreForMutexesAndSharedMutexesOnly) {
    EXPECT_EQ(refusal_of<shared_mutex>(a_, {.retain_for = 1s}), "");
    for (const lock_options& o : {lock_options{.local_passes = 1}, {.retain_for = 1s}}) {
        EXPECT_THROW(static_cast<void>(semaphore(a_, "/lock", 3, o)), error);
        EXPECT_THROW(static_cast<void>(curator_semaphore(a_, "/lock", 3, o)), error);
    }
}

// ---- of a shared_mutex ----

using SharedTurns = LocalTurns;

TEST_F(SharedTurns, ReadersAreParticipantsOfTheirOwn) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5, .retain_for = 30s});
    hold first = held(mine, shared);
    const hold second = held(mine, shared);
    EXPECT_NE(first.path(), second.path());
    EXPECT_EQ(in_queue(), 2U);
    first.release();
    settle();
    EXPECT_EQ(in_queue(), 1U) << "no place of a reader is kept";
}

TEST_F(SharedTurns, AReaderOfTheSameObjectEndsTheTurnsOfItsWriters) {
    shared_mutex mine(a_, "/lock", {.local_passes = 1, .retain_for = 30s});
    hold first = held(mine, exclusive);
    const auto reads = acquire_as(mine, shared);
    settle();
    const auto second = acquire_as(mine, exclusive);
    const auto third = acquire_as(mine, exclusive);
    first.release();
    expect_granted(second);
    second->granted.release();
    expect_granted(reads);
    EXPECT_FALSE(third->done);
}

TEST_F(SharedTurns, AWriterThatConvertsLeavesThoseThatWait) {
    shared_mutex mine(a_, "/lock", {.local_passes = 5});
    hold present = held(mine, exclusive);
    const auto next = acquire_as(mine, exclusive);
    settle();
    EXPECT_EQ(in_queue(), 1U);
    const auto reads = convert(mine, std::move(present), shared);
    expect_granted(reads, 1s);
    settle();
    EXPECT_EQ(in_queue(), 2U);
    const auto token = reads->granted.token();
    reads->granted.release();
    expect_granted(next, 100ms);
    EXPECT_EQ(next->granted.mode(), exclusive);
    EXPECT_GT(next->granted.token(), token);
}

TEST_F(SharedTurns, AWriterOfALaterTurnConverts) {
    shared_mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine, exclusive).release();
    settle();
    hold later = held(mine, exclusive);
    const auto reads = convert(mine, std::move(later), shared);
    expect_granted(reads, 1s);
    EXPECT_EQ(reads->granted.mode(), shared);
    reads->granted.release();
    settle();
    EXPECT_EQ(in_queue(), 0U) << "it is no place of writers any more";
}

}  // namespace
}  // namespace latchkey::test
