#include "failing_allocations.hpp"
#include "loop/asio_loop.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <new>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

/// Whether it was posted, with the n-th allocation failing.
bool posts(loop& l, loop::task t, int n) {
    allocations_left = n;
    bool posted = true;
    try {
        l.post(std::move(t));
    } catch (const std::bad_alloc&) {
        posted = false;
    }
    allocations_left = never;
    return posted;
}

bool runs(loop& l) {
    const auto ran = std::make_shared<std::promise<void>>();
    l.post([ran] { ran->set_value(); });
    return ran->get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
}

TEST(AsioLoopMemory, ThatRunsOutInPostIsThrownAndTheLoopGoesOn) {
    asio_loop l;
    for (int round = 0; round < 50; ++round) {
        for (int n = 0; n < 4; ++n) {
            int ran = 0;
            const bool posted = posts(
                l, [&ran] { ++ran; }, n);
            ASSERT_TRUE(runs(l)) << "after the failure of allocation " << n;
            EXPECT_EQ(ran, posted ? 1 : 0);
        }
    }
}

TEST(AsioLoopMemory, IsNotNeededToWakeIt) {
    asio_loop l;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(runs(l));  // there is room for tasks then
    }
    EXPECT_TRUE(posts(
        l, [] {}, 0));
}

}  // namespace
}  // namespace latchkey
