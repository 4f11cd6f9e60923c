#include "session/connect_schedule.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;

TEST(ConnectLimit, IsAsTabled) {
    struct row {
        int timeout;
        std::size_t servers;
        unsigned round;
        int expected;
    };

    for (const auto& [timeout, servers, round, expected] : std::vector<row>{{30000, 3, 0, 400},
                                                                            {30000, 3, 1, 800},
                                                                            {30000, 3, 2, 1600},
                                                                            {30000, 3, 4, 5000},
                                                                            {30000, 3, 1000, 5000},
                                                                            {30000, 1, 9, 15000},
                                                                            {6000, 5, 0, 400},
                                                                            {6000, 5, 1, 600},
                                                                            {1000, 3, 0, 200},
                                                                            {1000, 3, 7, 200},
                                                                            {0, 0, 0, 200}}) {
        EXPECT_EQ(connect_limit(milliseconds(timeout), servers, round), milliseconds(expected))
            << timeout << ' ' << servers << ' ' << round;
    }
}

TEST(ConnectLimit, OfThreeSilentServersIsLessThanTwoSeconds) {
    EXPECT_LT(3 * connect_limit(milliseconds(60000), 4, 0), milliseconds(2000));
}

TEST(ConnectPause, DoublesUpToACapAndIsJitteredOverItsUpperHalf) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    for (unsigned round = 1; round < 64; ++round) {
        const auto expected =
            round > 5 ? milliseconds(3000) : milliseconds(100) * (1 << (round - 1));
        EXPECT_EQ(connect_pause(round, 0), expected);
        for (const std::uint64_t random : {std::uint64_t{1}, std::uint64_t{77777}, most}) {
            EXPECT_GE(connect_pause(round, random), expected / 2);
            EXPECT_LE(connect_pause(round, random), expected);
        }
    }
    EXPECT_NE(connect_pause(4, 10), connect_pause(4, 300));
}

TEST(ReconnectPause, StaysSmallBesideTheSessionTimeout) {
    for (const auto timeout : {milliseconds(1000), milliseconds(6000), milliseconds(60000)}) {
        for (unsigned round = 1; round < 40; ++round) {
            EXPECT_LE(reconnect_pause(timeout, round, round), timeout / 20);
            EXPECT_GE(reconnect_pause(timeout, round, round), milliseconds(10));
        }
    }
}

}  // namespace
}  // namespace latchkey
