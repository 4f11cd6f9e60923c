#include "look/latency.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Latency, PercentilesAreThoseOfTheNearestRank) {
    std::vector<std::chrono::nanoseconds> all;
    for (int i = 200; i > 0; --i) {
        all.emplace_back(i * 1ms);
    }
    const latency l = latency_of(all);
    EXPECT_EQ(l.count, 200U);
    EXPECT_EQ(l.least, 1ms);
    EXPECT_EQ(l.p50, 100ms);
    EXPECT_EQ(l.p90, 180ms);
    EXPECT_EQ(l.p99, 198ms);
    EXPECT_EQ(l.most, 200ms);
}

TEST(Latency, OfOneRequestAllAreTheSame) {
    const latency l = latency_of({1'234'567ns});
    EXPECT_EQ(l.least, l.p50);
    EXPECT_EQ(l.p99, l.most);
    EXPECT_THAT(text_of("read", l), HasSubstr("1.23 "));
    EXPECT_EQ(json_of(l)["p99_us"], 1234);
}

TEST(Latency, OfNoneIsZero) {
    EXPECT_EQ(latency_of({}).count, 0U);
}

}  // namespace
}  // namespace latchkey::test
