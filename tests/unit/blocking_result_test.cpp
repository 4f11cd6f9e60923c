#include "loop/blocking_result.hpp"

#include "blocking_thread.hpp"
#include "eventually.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

TEST(Awaited, CarriesWhatCannotBeCopied) {
    blocking_result<std::unique_ptr<int>> a;
    a.set(std::make_unique<int>(7));
    a.set(nullptr);
    EXPECT_EQ(*a.get(), 7) << "only the first result counts";
}

// With a limit beyond the clock, too.
TEST(Awaited, WaitsForAnotherThread) {
    for (const bool limited : {false, true}) {
        blocking_result<int> a;
        std::optional<int> got;
        test::blocking_thread waiter(
            [&] { got = limited ? a.get_for(std::chrono::nanoseconds::max()) : a.get(); });
        EXPECT_TRUE(test::eventually([&] { return waiter.blocks(); }));
        a.set(7);
        waiter.join();
        EXPECT_EQ(got, 7);
    }
}

TEST(Awaited, GivesUpWhenTheTimeIsOver) {
    blocking_result<int> a;
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(a.get_for(20ms));
    EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
    EXPECT_FALSE(a.get_for(0ns));
    EXPECT_FALSE(a.get_for(-1s));
    EXPECT_FALSE(a.get_for(std::chrono::nanoseconds::min()));
    a.set(7);
    EXPECT_EQ(a.get_for(0ns), 7);
}

}  // namespace
}  // namespace latchkey
