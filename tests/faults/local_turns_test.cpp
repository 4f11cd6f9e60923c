// lock_options::local_passes, local_time and retain_for.
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "client/client_core.hpp"
#include "every_step.hpp"
#include "lock/exclusive_lock.hpp"
#include "stepped_test.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::test {
namespace {

class LocalTurns : public SteppedTest {
protected:
    client a_ = connected();
    client b_ = connected();
    mutex theirs_{b_, "/lock"};

    /// A lock that `m` has kept after its release, as it is when nothing is on its way any more.
    std::string retained(mutex& m) {
        hold h = held(m);
        const std::string path = h.path();
        settle();
        h.release();
        settle();
        return path;
    }

    [[nodiscard]] bool is_free() const { return in_queue() == 0; }
};

using RetainedLock = LocalTurns;

// ---- retained ----

TEST_F(RetainedLock, IsTakenAgainWithoutARequest) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold first = held(mine);
    settle();
    const auto token = first.token();
    const auto path = first.path();
    first.release();
    ensemble_.run_for(1ms);
    const auto before = ensemble_.now();
    const auto again = acquire(mine);
    expect_granted(again);
    EXPECT_EQ(again->at, before) << "no time passes";
    EXPECT_EQ(again->granted.path(), path);
    EXPECT_GT(again->granted.token(), token);
    EXPECT_GT(again->granted.token().value(), token.value());
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(RetainedLock, IsAsGoodAsAnyHold) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    hold h = held(mine);
    EXPECT_TRUE(h.valid());
    bool done = false;
    h.async_transact({operation::create("/written", "under the lock")},
                     [&](std::error_code ec, const std::vector<operation_result>&) {
                         EXPECT_FALSE(ec) << ec.message();
                         done = true;
                     });
    ASSERT_TRUE(ensemble_.run_until([&] { return done; }, 1s));
    ensemble_.remove(h.path());
    ensemble_.run_for(100ms);
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.why_lost(), loss_reason::znode_deleted);
}

TEST_F(RetainedLock, IsGivenUpAfterItsTime) {
    mutex mine(a_, "/lock", {.retain_for = 5s});
    retained(mine);
    ensemble_.run_for(4s);
    EXPECT_FALSE(is_free());
    held(mine).release();
    ensemble_.run_for(4900ms);
    EXPECT_FALSE(is_free()) << "it counts from the last release";
    ensemble_.run_for(200ms);
    EXPECT_TRUE(is_free());
    EXPECT_TRUE(held(mine).valid()) << "the object goes on";
}

TEST_F(RetainedLock, GoesToAnotherParticipantAfterOneNotificationAndOneDelete) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(theirs_).release();  // b knows the directory
    retained(mine);
    const auto before = ensemble_.now();
    const auto other = acquire(theirs_);
    expect_granted(other);
    // Its create; the event to the client that keeps the lock, whose delete goes back; its event.
    EXPECT_LE(other->at - before, 2 * round_trip + 1ms);
    EXPECT_EQ(ensemble_.count(a_.session_id()).removes, 1U);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(RetainedLock, StaysWithAProgramThatUsesItUntilTheHoldEnds) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    hold h = held(mine);
    const auto other = acquire(theirs_);
    ensemble_.run_for(1s);
    EXPECT_FALSE(other->done);
    h.release();
    expect_granted(other, 1s);
}

TEST_F(RetainedLock, IsGivenUpWithItsObject) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    retained(*mine);
    mine.reset();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpByReleaseAndWait) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    settle();
    EXPECT_FALSE(h.release_and_wait()) << "nothing runs meanwhile";
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpByARequestForIt) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    ensemble_.set(path, "__REVOKE__");
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpWithItsConnection) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    ensemble_.cut(a_.session_id());
    ensemble_.run_for(2s);
    EXPECT_TRUE(is_free());
    EXPECT_TRUE(held(mine).valid());
}

TEST_F(RetainedLock, IsGivenUpWithItsClient) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    a_.close();
    ensemble_.run_for(1s);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsNoneAfterItsZnodeWasDeleted) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    ensemble_.remove(path);
    ensemble_.run_for(100ms);
    EXPECT_NE(held(mine).path(), path);
}

TEST_F(RetainedLock, IsOneOfAtMostSoManyOfAClient) {
    client few = connected({.session_timeout = 12s, .max_retained = 2});
    std::vector<std::unique_ptr<mutex>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(std::make_unique<mutex>(
            few, "/lock" + std::to_string(i), lock_options{.retain_for = 30s}));
        held(*all.back()).release();
        settle();
    }
    EXPECT_EQ(in_queue("/lock0"), 1U);
    EXPECT_EQ(in_queue("/lock1"), 1U);
    EXPECT_EQ(in_queue("/lock2"), 0U);
    all.front().reset();
    ensemble_.run_for(100ms);
    held(*all.back()).release();
    settle();
    EXPECT_EQ(in_queue("/lock2"), 1U);
}

TEST_F(RetainedLock, IsTakenAgainAThousandTimesAndThenByAnotherZnode) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    const std::string path = retained(mine);
    fencing_token last;
    std::string now;
    for (std::uint32_t i = 0; i < fencing_token::turns; ++i) {
        const hold h = held(mine);
        ASSERT_GT(h.token(), last);
        last = h.token();
        now = h.path();
    }
    EXPECT_NE(now, path);
    EXPECT_EQ(in_queue(), 1U);
}

TEST_F(RetainedLock, IsTakenByATryToo) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    retained(mine);
    const auto first = acquire(mine, 0s);
    expect_granted(first);
    const auto second = acquire(mine, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return second->done; }, 1s));
    EXPECT_FALSE(second->granted);
    EXPECT_EQ(ensemble_.count().requests(), 0U);
}

TEST_F(RetainedLock, IsTakenByATryBeforeItIsKnownWhetherAnotherWaits) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    const auto next = acquire(mine, 0s);
    expect_granted(next, 1s);
}

TEST_F(RetainedLock, IsRefusedToATryWhileAnotherHolds) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    held(mine).release();
    hold other = held(theirs_);
    const auto next = acquire(mine, 0s);
    ASSERT_TRUE(ensemble_.run_until([&] { return next->done; }, 1s));
    EXPECT_FALSE(next->ec) << next->ec.message();
    EXPECT_FALSE(next->granted);
}

TEST_F(RetainedLock, IsGivenUpWithAnObjectThatEndedBeforeTheGrant) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    const auto granted = acquire(*mine);
    mine.reset();
    expect_granted(granted);
    settle();
    granted->granted.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, IsGivenUpIfTheServersRefuseToSayWhetherAnotherWaits) {
    mutex mine(a_, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    constexpr int no_auth = -102;
    ensemble_.refuse_next(ensemble::request_kind::children, no_auth, a_.session_id(), 1000);
    settle();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free()) << "the client cannot learn that another participant has come";
}

TEST_F(RetainedLock, CountsAlsoIfItWasToBePassedOn) {
    client none = connected({.session_timeout = 12s, .max_retained = 0});
    mutex mine(none, "/lock", {.retain_for = 30s});
    hold h = held(mine);
    std::stop_source leaves;
    const auto next = acquire(mine, std::chrono::nanoseconds::max(), {.stop = leaves.get_token()});
    settle();
    leaves.request_stop();
    h.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(next->done);
    EXPECT_TRUE(is_free());
}

TEST_F(RetainedLock, LeavesNoMemoryBehind) {
    auto mine = std::make_unique<mutex>(a_, "/lock", lock_options{.retain_for = 30s});
    retained(*mine);
    const std::weak_ptr<client_core> core = client_core::of(a_);
    mine.reset();
    a_ = connected();
    ensemble_.run_for(5s);
    EXPECT_TRUE(core.expired());
}

// ---- passed on ----

TEST_F(LocalTurns, PassTheLockFromCallerToCallerWithoutARequest) {
    mutex mine(a_, "/lock", {.local_passes = 1});
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
    EXPECT_EQ(ensemble_.count().requests(), 0U);
    present.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free()) << "nobody wants it, and it is not to be retained";
}

TEST_F(LocalTurns, EndSoonOnceAnotherParticipantWaits) {
    mutex mine(a_, "/lock", {.local_passes = 2});
    auto present = held(mine);
    const auto other = acquire(theirs_);
    std::vector<std::shared_ptr<attempt>> callers;
    for (int i = 0; i < 4; ++i) {
        callers.push_back(acquire(mine));
    }
    settle();
    for (int i = 0; i < 2; ++i) {
        present.release();
        expect_granted(callers[static_cast<std::size_t>(i)], 1ms);
        present = std::move(callers[static_cast<std::size_t>(i)]->granted);
    }
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(callers[2]->done);
    other->granted.release();
    expect_granted(callers[2], 100ms);
}

TEST_F(LocalTurns, EndAfterLocalTimeOnceAnotherParticipantWaits) {
    mutex mine(a_, "/lock", {.local_passes = UINT32_MAX, .local_time = 1s});
    auto present = held(mine);
    const auto other = acquire(theirs_);
    settle();
    ensemble_.run_for(2s);
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(next->done);
}

TEST_F(LocalTurns, AreNoneWithoutTheOption) {
    mutex mine(a_, "/lock");
    auto present = held(mine);
    const auto other = acquire(theirs_);
    settle();
    const auto next = acquire(mine);
    ensemble_.run_for(1ms);
    present.release();
    expect_granted(other, 100ms);
    EXPECT_FALSE(next->done);
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
    const auto next = acquire(mine, 500ms);
    ensemble_.run_for(1s);
    EXPECT_TRUE(next->done);
    present.release();
    ensemble_.run_for(100ms);
    EXPECT_TRUE(is_free());
}

TEST_F(LocalTurns, AreNotPassedForLongByAThreadThatNeverRests) {
    const auto core = client_core::of(a_);
    const auto as = std::make_shared<const queue_recipe>(
        mutex_queue_of(*core, "/lock", {.local_passes = UINT32_MAX, .retain_for = 1h}));
    const auto queue = std::make_shared<local_queue>(
        core, local_queue::admits::one_at_a_time, std::make_shared<place_turns>(core, as));
    std::vector<hold> granted;
    for (int i = 0; i < 3; ++i) {
        queue->enter(as, local_queue::wish::wait, local_queue::for_ever, {}, [&](auto a) {
            granted.push_back(std::move(a.granted));
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
    held(mine).release();
    settle();
    const hold h = held(mine);
    ensemble_.run_for(5ms);
    EXPECT_EQ(ensemble_.count().children, 2U) << "one belongs to the create";
    EXPECT_EQ(ensemble_.count().requests(), 3U);
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

TEST_F(LocalTurns, AreForMutexesOnly) {
    EXPECT_NE(refusal_of<shared_mutex>(a_, {.retain_for = 1s}), "");
    EXPECT_THROW(static_cast<void>(semaphore(a_, "/lock", 3, {.local_passes = 1})), error);
}

// ---- at every step ----

/// What befalls the client whose callers take turns.
struct strike {
    const char* name;
    void (*happens)(ensemble& on, const client& mine, const std::string& place);
};

void PrintTo(const strike& s, std::ostream* out) {
    *out << s.name;
}

class LocalTurnsAtEveryStep : public LocalTurns, public ::testing::WithParamInterface<strike> {
protected:
    struct players {
        std::string place;
        std::vector<std::shared_ptr<attempt>> all;
    };

    /// A hold is released while callers of its object and another participant wait.
    players begin() {
        hold present = held(mine_);
        players p{present.path(), {acquire(mine_), acquire(theirs_), acquire(mine_)}};
        ensemble_.run_for(100ms);
        present.release();
        return p;
    }

    /// Each of them is granted, one at a time, and nothing stays.
    void end(players& p) {
        while (!p.all.empty()) {
            const auto is_done = [](const auto& a) { return a->done; };
            ASSERT_TRUE(ensemble_.run_until(
                [&] { return std::any_of(p.all.begin(), p.all.end(), is_done); }, 60s));
            ensemble_.run_for(2ms);
            const auto is_valid = [](const auto& a) { return a->granted.valid(); };
            EXPECT_LE(std::count_if(p.all.begin(), p.all.end(), is_valid), 1);
            const auto first = std::find_if(p.all.begin(), p.all.end(), is_done);
            EXPECT_FALSE((*first)->ec) << (*first)->ec.message();
            (*first)->granted.release();
            p.all.erase(first);
        }
        EXPECT_TRUE(ensemble_.run_until([&] { return is_free(); }, 10s));
    }

    mutex mine_{a_, "/lock", {.local_passes = 1, .retain_for = 500ms}};
};

TEST_P(LocalTurnsAtEveryStep, AreGrantedOneAtATimeAndLeaveNothing) {
    held(mine_).release();
    settle();
    at_every_step(
        {.of = ensemble_, .stretch = 12ms, .at_least = one_way / 4},
        [&] { return begin(); },
        [&](players& p) { GetParam().happens(ensemble_, a_, p.place); },
        [&](players& p) { end(p); });
}

INSTANTIATE_TEST_SUITE_P(
    ,
    LocalTurnsAtEveryStep,
    ::testing::Values(strike{"nothing", [](ensemble&, const client&, const std::string&) {}},
                      strike{"cut",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.cut(mine.session_id());
                             }},
                      strike{"expired",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.expire(mine.session_id());
                             }},
                      strike{"stalled",
                             [](ensemble& on, const client& mine, const std::string&) {
                                 on.pause(mine.session_id());
                                 on.run_for(1s);
                                 on.resume(mine.session_id());
                             }},
                      strike{"deleted",
                             [](ensemble& on, const client&, const std::string& place) {
                                 if (on.exists(place)) {
                                     on.remove(place);
                                 }
                             }},
                      strike{"asked_for",
                             [](ensemble& on, const client&, const std::string& place) {
                                 if (on.exists(place)) {
                                     on.set(place, "__REVOKE__");
                                 }
                             }},
                      strike{"leader_killed",
                             [](ensemble& on, const client&, const std::string&) {
                                 const int killed = on.leader();
                                 on.stop_server(killed);
                                 on.run_for(1s);
                                 on.start_server(killed);
                             }}),
    [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace latchkey::test
