#include "run/restart_backoff.hpp"

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;

TEST(RestartPause, GrowsWhileTheCommandEndsSoon) {
    restart_backoff pauses;
    auto now = restart_backoff::clock::time_point(1h);
    EXPECT_EQ(pauses.left(now), 0s) << "at first there is none";
    std::chrono::nanoseconds last{};
    for (int i = 0; i < 20; ++i) {
        pauses.begun(now);
        pauses.ended(now);
        const auto pause = pauses.left(now);
        EXPECT_GE(pause, last);
        EXPECT_GE(pause, restart_backoff::first);
        EXPECT_LE(pause, restart_backoff::longest);
        last = pause;
        now += pause;
        EXPECT_EQ(pauses.left(now), 0s);
    }
    EXPECT_EQ(last, restart_backoff::longest);
}

TEST(RestartPause, IsShortAgainAfterACommandThatRanLong) {
    restart_backoff pauses;
    auto now = restart_backoff::clock::time_point(1h);
    for (int i = 0; i < 20; ++i) {
        pauses.begun(now);
        pauses.ended(now);
    }
    pauses.begun(now);
    now += restart_backoff::longest + 1s;
    pauses.ended(now);
    EXPECT_EQ(pauses.left(now), restart_backoff::first);
    pauses.skip(now);
    EXPECT_EQ(pauses.left(now), 0s);
}

}  // namespace

}  // namespace latchkey::cli
