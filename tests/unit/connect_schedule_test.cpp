#include "session/connect_schedule.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;

struct limit_case {
    milliseconds timeout;
    std::size_t servers;
    unsigned round;
    milliseconds expected;
};

class ConnectLimit : public testing::TestWithParam<limit_case> {};

TEST_P(ConnectLimit, IsAsTabled) {
    const auto& c = GetParam();
    EXPECT_EQ(connect_limit(c.timeout, c.servers, c.round), c.expected);
}

INSTANTIATE_TEST_SUITE_P(Table,
                         ConnectLimit,
                         testing::Values(limit_case{milliseconds(30000), 3, 0, milliseconds(400)},
                                         limit_case{milliseconds(30000), 3, 1, milliseconds(800)},
                                         limit_case{milliseconds(30000), 3, 2, milliseconds(1600)},
                                         limit_case{milliseconds(30000), 3, 4, milliseconds(5000)},
                                         limit_case{
                                             milliseconds(30000), 3, 1000, milliseconds(5000)},
                                         limit_case{milliseconds(30000), 1, 9, milliseconds(15000)},
                                         limit_case{milliseconds(6000), 5, 0, milliseconds(400)},
                                         limit_case{milliseconds(6000), 5, 1, milliseconds(600)},
                                         limit_case{milliseconds(1000), 3, 0, milliseconds(200)},
                                         limit_case{milliseconds(1000), 3, 7, milliseconds(200)},
                                         limit_case{milliseconds(0), 0, 0, milliseconds(200)}));

TEST(ConnectLimitRule, ThreeSilentServersCostLessThanTwoSeconds) {
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
