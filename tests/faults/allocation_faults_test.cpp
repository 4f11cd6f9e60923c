#include <latchkey/double_barrier.hpp>

#include "failing_allocations.hpp"
#include "lock_fixture.hpp"

#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

/// Whether the n-th allocation of the call fails; false if it makes fewer.
bool fails_at(int n, const std::function<void()>& call) {
    bool failed = false;
    allocations_left = n;
    try {
        call();
    } catch (const std::bad_alloc&) {
        failed = true;
    }
    allocations_left = never;
    return failed;
}

struct call_counts {
    int thrown = 0;
    int returned = 0;
};

/// Calls with the first, the second, ... allocation failing, until none is left to fail.
call_counts with_each_failure(const std::function<void()>& call) {
    call_counts counts;
    for (int n = 0; n < 1000; ++n) {
        bool none_failed = false;
        const bool threw = fails_at(n, [&] {
            call();
            none_failed = allocations_left > 0;
        });
        ++(threw ? counts.thrown : counts.returned);
        if (none_failed) {
            EXPECT_GT(counts.thrown, 0);
            return counts;
        }
    }
    ADD_FAILURE() << "it allocates without end";
    return counts;
}

/// Memory that runs out inside a call of the user's: the call throws std::bad_alloc and has done
/// nothing, or it has done everything. (Inside the library's own threads it ends the process.)
class AllocationFaults : public LockSteps {
protected:
    /// A call that threw reports nothing to its handler. Returns how many calls did not throw.
    int expect_reported_or_thrown(
        const std::function<void(std::function<void(std::error_code)>)>& call) {
        int reported = 0;
        const auto note = [&reported](std::error_code ec) { reported += ec ? 0 : 1; };
        const int returned = with_each_failure([&] { call(note); }).returned;
        ensemble_.run_for(30s);
        EXPECT_EQ(reported, returned);
        return returned;
    }

    client c_ = connected();
    mutex m_{c_, "/lock"};
};

TEST_F(AllocationFaults, OfAConstructorLeaveNothing) {
    const std::string path = "/another/lock/with-a-name-that-does-not-fit-into-the-string-itself";
    with_each_failure([&] { const mutex m(c_, path); });
    EXPECT_TRUE(held(m_).valid());
}

TEST_F(AllocationFaults, OfAnAcquireAreThrownAndNeverReportedToTheHandlerAsWell) {
    expect_reported_or_thrown([&](const auto& note) {
        m_.async_acquire({}, [note](std::error_code ec, const hold&) { note(ec); });
    });
    EXPECT_EQ(in_queue(), 0U);
    EXPECT_TRUE(held(m_).valid());
}

TEST_F(AllocationFaults, OfACallerThatTakesTurnsLeaveNoneToWaitFor) {
    mutex mine(c_, "/lock", {.local_passes = UINT32_MAX});
    hold h = held(mine);
    with_each_failure([&] { mine.async_acquire({}, [](std::error_code, const hold&) {}); });
    h.release();
    ensemble_.run_for(30s);
    EXPECT_EQ(in_queue(), 0U);
}

TEST(AllocationFaultsOfTurns, LeaveThePlaceToTheNextCaller) {
    ensemble servers;
    client c = servers.connect();
    mutex m(c, "/lock", {.retain_for = 1h});
    m.acquire().release();
    m.acquire().release();
    int failed = 0;
    for (int n = 0; n < 40; ++n) {
        hold h;
        if (fails_at(n, [&] { h = m.try_acquire_for(10s); })) {
            ++failed;
        } else {
            ASSERT_TRUE(h.valid()) << n;
        }
    }
    EXPECT_GT(failed, 2);
}

TEST_F(AllocationFaults, OfATransactionAreThrownAndNothingIsSent) {
    hold h = held(m_);
    const int returned = expect_reported_or_thrown([&](const auto& note) {
        h.async_transact(
            {operation::create("/effects-", {}, operation::lifetime::persistent_sequential)},
            [note](std::error_code ec, const auto&) { note(ec); });
    });
    EXPECT_EQ(ensemble_.count().multis, static_cast<std::uint64_t>(returned));
    EXPECT_TRUE(h.valid());
}

TEST_F(AllocationFaults, OfADoubleBarrierLeaveItWhereItWas) {
    double_barrier b(c_, "/meeting", 1);
    bool passed = false;
    int failed = 0;
    const auto note = [&](std::error_code ec, bool reached) { passed = !ec && reached; };
    const auto pass = [&](const std::function<void()>& call) {
        for (int n = 0; fails_at(n, call); ++n) {
            ++failed;
        }
        EXPECT_TRUE(soon([&] { return std::exchange(passed, false); }));
    };
    pass([&] { b.async_enter(1h, {}, note); });
    EXPECT_TRUE(b.inside());
    pass([&] { b.async_leave(1h, {}, note); });
    EXPECT_FALSE(b.inside());
    EXPECT_GT(failed, 4);
}

TEST_F(AllocationFaults, WithoutAnObserverNothingIsAllocatedForEvents) {
    telemetry& t = client_core::of(c_)->telemetry();
    const std::string path = "/a/lock/with-a-name-that-does-not-fit-into-the-string-itself";
    EXPECT_FALSE(fails_at(0, [&] {
        telemetry::span s = t.begin(path, false, {});
        t.queued(s, path, 3, lock_mode::exclusive);
        t.granted(s, {});
        t.converted(s, {});
        t.lost(s, {}, loss_reason::deadline_passed);
        t.transacted(path, {}, {});
        t.sent();
    }));
}

TEST_F(AllocationFaults, OfAListenerAreThrownAndItHearsNothing) {
    int heard = 0;
    with_each_failure(
        [&] { const subscription s = c_.on_change([&](connection_state) { ++heard; }); });
    ensemble_.cut(c_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(heard, 0);
    EXPECT_EQ(c_.state(), connection_state::reconnected);
}

}  // namespace
}  // namespace latchkey::test
