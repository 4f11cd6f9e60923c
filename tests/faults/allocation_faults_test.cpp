#include <latchkey/double_barrier.hpp>

#include "client/client_core.hpp"
#include "failing_allocations.hpp"
#include "stepped_test.hpp"

#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>

namespace latchkey::test {
namespace {

/// Memory that runs out inside a call of the user's: the call throws std::bad_alloc and has done
/// nothing, or it has done everything. (Inside the library's own threads it ends the process.)
class AllocationFaults : public SteppedTest {
protected:
    /// Calls with the first, the second, ... allocation failing, until none is left to fail.
    static int failures_of(const std::function<void()>& call) {
        for (int n = 0;; ++n) {
            allocations_left = n;
            bool failed = false;
            try {
                call();
            } catch (const std::bad_alloc&) {
                failed = true;
            }
            const bool all_succeeded = !failed && allocations_left > 0;
            allocations_left = never;
            if (all_succeeded || n > 1000) {
                EXPECT_LE(n, 1000);
                return n;
            }
        }
    }

    client c_ = connected();
    mutex m_{c_, "/lock"};
};

TEST_F(AllocationFaults, OfAConstructorLeaveNothing) {
    const std::string path = "/another/lock/with-a-name-that-does-not-fit-into-the-string-itself";
    EXPECT_GT(failures_of([&] { const mutex m(c_, path); }), 0);
    EXPECT_TRUE(held(m_).valid());
}

TEST_F(AllocationFaults, OfAnAcquireAreThrownAndNeverToldToTheHandlerAsWell) {
    int told = 0;
    int thrown = 0;
    int tried = 0;
    failures_of([&] {
        ++tried;
        try {
            m_.async_acquire({}, [&](std::error_code ec, const hold&) { told += ec ? 0 : 1; });
        } catch (const std::bad_alloc&) {
            ++thrown;
            throw;
        }
    });
    EXPECT_GT(thrown, 0);
    ensemble_.run_for(30s);
    EXPECT_EQ(told, tried - thrown);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
    EXPECT_TRUE(held(m_).valid());
}

TEST_F(AllocationFaults, OfACallerThatTakesTurnsLeaveNoneToWaitFor) {
    mutex mine(c_, "/lock", {.local_passes = UINT32_MAX});
    hold h = held(mine);
    EXPECT_GT(failures_of([&] { mine.async_acquire({}, [](std::error_code, const hold&) {}); }), 0);
    h.release();
    ensemble_.run_for(30s);
    EXPECT_TRUE(ensemble_.children("/lock").empty());
}

TEST(AllocationFaultsOfTurns, LeaveThePlaceToTheNextCaller) {
    ensemble servers;
    client c = servers.connect();
    mutex m(c, "/lock", {.retain_for = 1h});
    m.acquire().release();
    m.acquire().release();
    int failed = 0;
    for (int n = 0; n < 40; ++n) {
        allocations_left = n;
        try {
            const hold h = m.try_acquire_for(10s);
            allocations_left = never;
            ASSERT_TRUE(h.valid()) << n;
        } catch (const std::bad_alloc&) {
            allocations_left = never;
            ++failed;
        }
    }
    EXPECT_GT(failed, 2);
}

TEST_F(AllocationFaults, OfATransactionAreThrownAndNothingIsSent) {
    hold h = held(m_);
    int told = 0;
    int thrown = 0;
    int tried = 0;
    failures_of([&] {
        ++tried;
        try {
            h.async_transact(
                {operation::create("/effects-", {}, operation::lifetime::persistent_sequential)},
                [&](std::error_code ec, const auto&) { told += ec ? 0 : 1; });
        } catch (const std::bad_alloc&) {
            ++thrown;
            throw;
        }
    });
    EXPECT_GT(thrown, 0);
    ensemble_.run_for(30s);
    EXPECT_EQ(told, tried - thrown);
    EXPECT_EQ(ensemble_.count().multis, static_cast<std::uint64_t>(tried - thrown));
    EXPECT_TRUE(h.valid());
}

TEST_F(AllocationFaults, OfADoubleBarrierLeaveItWhereItWas) {
    double_barrier b(c_, "/meeting", 1);
    int failed = 0;
    bool done = false;
    const auto until_started = [&](const std::function<void()>& call) {
        done = false;
        for (int n = 0;; ++n) {
            allocations_left = n;
            try {
                call();
                break;
            } catch (const std::bad_alloc&) {
                ++failed;
            }
            allocations_left = never;
        }
        allocations_left = never;
        EXPECT_TRUE(ensemble_.run_until([&] { return done; }, 10s));
    };
    const auto note = [&](std::error_code ec, bool reached) { done = !ec && reached; };
    until_started([&] { b.async_enter(1h, {}, note); });
    EXPECT_TRUE(b.inside());
    until_started([&] { b.async_leave(1h, {}, note); });
    EXPECT_FALSE(b.inside());
    EXPECT_GT(failed, 4);
}

TEST_F(AllocationFaults, WithoutAnObserverNothingIsAllocatedForEvents) {
    telemetry& t = client_core::of(c_)->telemetry();
    const std::string path = "/a/lock/with-a-name-that-does-not-fit-into-the-string-itself";
    allocations_left = 0;
    EXPECT_NO_THROW({
        telemetry::span s = t.begin(path, false, {});
        t.queued(s, path, 3, lock_mode::exclusive);
        t.granted(s, {});
        t.converted(s, {});
        t.lost(s, {}, loss_reason::deadline_passed);
        t.transacted(path, {}, {});
        t.sent();
    });
    allocations_left = never;
}

TEST_F(AllocationFaults, OfAListenerAreThrownAndItHearsNothing) {
    int heard = 0;
    failures_of([&] { const subscription s = c_.on_change([&](connection_state) { ++heard; }); });
    ensemble_.cut(c_.session_id());
    ensemble_.run_for(5s);
    EXPECT_EQ(heard, 0);
    EXPECT_EQ(c_.state(), connection_state::reconnected);
}

}  // namespace
}  // namespace latchkey::test
