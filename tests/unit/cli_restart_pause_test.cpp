#include "restart_pause.hpp"

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;

TEST(RestartPause, GrowsWhileTheCommandEndsSoon) {
    restart_pause pauses;
    auto now = restart_pause::clock::time_point(1h);
    EXPECT_EQ(pauses.left(now), 0s) << "at first there is none";
    std::chrono::nanoseconds last{};
    for (int i = 0; i < 20; ++i) {
        pauses.begun(now);
        pauses.ended(now);
        const auto pause = pauses.left(now);
        EXPECT_GE(pause, last);
        EXPECT_GE(pause, restart_pause::first);
        EXPECT_LE(pause, restart_pause::longest);
        last = pause;
        now += pause;
        EXPECT_EQ(pauses.left(now), 0s);
    }
    EXPECT_EQ(last, restart_pause::longest);
}

TEST(RestartPause, IsShortAgainAfterACommandThatRanLong) {
    restart_pause pauses;
    auto now = restart_pause::clock::time_point(1h);
    for (int i = 0; i < 20; ++i) {
        pauses.begun(now);
        pauses.ended(now);
    }
    pauses.begun(now);
    now += restart_pause::longest + 1s;
    pauses.ended(now);
    EXPECT_EQ(pauses.left(now), restart_pause::first);
    pauses.skip(now);
    EXPECT_EQ(pauses.left(now), 0s);
}

}  // namespace

}  // namespace latchkey::cli
