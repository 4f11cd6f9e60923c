#include "client/listener_slot.hpp"

#include "blocking_thread.hpp"
#include "eventually.hpp"

#include <atomic>
#include <optional>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

TEST(ListenerSlot, CallsUntilTheCallsEnd) {
    listener_slot slot;
    int calls = 0;
    slot.call([&] { ++calls; });
    slot.end();
    slot.call([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(ListenerSlot, EndsWithinACall) {
    listener_slot slot;
    int calls = 0;
    for (int i = 0; i < 2; ++i) {
        slot.call([&] {
            slot.end();
            ++calls;
        });
    }
    EXPECT_EQ(calls, 1);
}

TEST(ListenerSlot, EndsWhenTheCallThatRunsHasReturned) {
    listener_slot slot;
    std::atomic<bool> running = true;
    std::optional<test::blocking_thread> ender;
    slot.call([&] {
        ender.emplace([&] {
            slot.end();
            EXPECT_FALSE(running);
        });
        EXPECT_TRUE(test::eventually([&] { return ender->blocks(); }));
        running = false;
    });
    ender->join();
    EXPECT_FALSE(running);
}

}  // namespace
}  // namespace latchkey
