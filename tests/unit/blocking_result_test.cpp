#include "loop/blocking_result.hpp"

#include "blocking_thread.hpp"
#include "eventually.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <boost/thread/thread.hpp>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

TEST(Awaited, GivesWhatWasSetBefore) {
    blocking_result<int> a;
    a.set(7);
    EXPECT_EQ(a.get(), 7);
}

TEST(Awaited, OnlyTheFirstResultCounts) {
    blocking_result<int> a;
    a.set(1);
    a.set(2);
    EXPECT_EQ(a.get(), 1);
}

TEST(Awaited, CarriesWhatCannotBeCopied) {
    blocking_result<std::unique_ptr<int>> a;
    a.set(std::make_unique<int>(7));
    EXPECT_EQ(*a.get(), 7);
}

TEST(Awaited, WaitsForAnotherThread) {
    blocking_result<int> a;
    std::optional<int> got;
    test::blocking_thread waiter([&] { got = a.get(); });
    EXPECT_TRUE(test::eventually([&] { return waiter.blocks(); }));
    a.set(7);
    waiter.join();
    EXPECT_EQ(got, 7);
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

TEST(Awaited, WaitsThroughALimitBeyondTheClock) {
    blocking_result<int> a;
    std::optional<int> got;
    test::blocking_thread waiter([&] { got = a.get_for(std::chrono::nanoseconds::max()); });
    EXPECT_TRUE(test::eventually([&] { return waiter.blocks(); }));
    a.set(7);
    waiter.join();
    EXPECT_EQ(got, 7);
}

TEST(Awaited, IsAnInterruptionPoint) {
    for (const bool limited : {false, true}) {
        const auto a = std::make_shared<blocking_result<int>>();
        bool interrupted = false;
        boost::thread waiter([&] {
            try {
                if (limited) {
                    static_cast<void>(a->get_for(1min));
                } else {
                    static_cast<void>(a->get());
                }
            } catch (const boost::thread_interrupted&) {
                interrupted = true;
            }
        });
        waiter.interrupt();
        waiter.join();
        EXPECT_TRUE(interrupted);
    }
}

}  // namespace
}  // namespace latchkey
