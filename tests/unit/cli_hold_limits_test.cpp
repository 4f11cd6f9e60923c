#include "run/hold_limits.hpp"

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using time_point = hold_limits::time_point;

constexpr time_point granted{1000s};

TEST(HoldLimits, WithoutOptionsNothingLimitsAHold) {
    for (const hold_limits& none :
         {hold_limits(), hold_limits(granted, std::nullopt, std::nullopt)}) {
        EXPECT_EQ(none.deadline(granted + 7s), granted + 7s);
        EXPECT_FALSE(none.is_limit(granted + 7s));
        EXPECT_FALSE(none.is_limit(time_point::max()));
        EXPECT_EQ(none.left(granted + 1h), std::chrono::nanoseconds::max());
        EXPECT_EQ(none.owed(granted), 0s);
    }
}

TEST(HoldLimits, MaximumCutsTheDeadline) {
    const hold_limits limits(granted, std::nullopt, 60s);
    EXPECT_EQ(limits.deadline(granted + 5s), granted + 5s);
    EXPECT_FALSE(limits.is_limit(granted + 5s));
    EXPECT_EQ(limits.deadline(granted + 61s), granted + 60s);
    EXPECT_TRUE(limits.is_limit(granted + 60s));
    EXPECT_EQ(limits.left(granted + 59s), 1s);
    EXPECT_EQ(limits.left(granted + 70s), 0s);
}

TEST(HoldLimits, MinimumIsOwedFromTheGrantOn) {
    const hold_limits limits(granted, 30s, std::nullopt);
    EXPECT_EQ(limits.owed(granted + 10s), 20s);
    EXPECT_EQ(limits.owed(granted + 30s), 0s);
    EXPECT_EQ(limits.owed(granted + 40s), 0s);
}

TEST(HoldLimits, TooLongForTheClockIsForEver) {
    const auto most = std::chrono::nanoseconds::max();
    const hold_limits limits(granted, most, most);
    EXPECT_EQ(limits.deadline(granted + 5s), granted + 5s);
    EXPECT_EQ(limits.left(granted), most);
    EXPECT_GT(limits.owed(granted), 24h * 365);
}

}  // namespace

}  // namespace latchkey::cli
