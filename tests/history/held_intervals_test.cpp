#include "held_intervals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using ::testing::HasSubstr;

constexpr held_interval held(std::int64_t begin, std::int64_t end, std::int64_t zxid) {
    return {.begin = begin, .end = end, .token = {.zxid = zxid}};
}

TEST(HeldIntervals, OfOneAfterTheOtherAreFine) {
    const intervals all{held(5, 9, 3), held(0, 2, 1), held(2, 5, 2)};
    EXPECT_EQ(most_at_once(all), 1U);
    EXPECT_EQ(not_one_after_the_other(all), "");
    EXPECT_EQ(overlaps({all[0]}, {all[1], all[2]}), 0U);
}

TEST(HeldIntervals, OfTwoAtOnceAreFound) {
    const intervals all{held(0, 4, 1), held(3, 5, 2)};
    EXPECT_EQ(most_at_once(all), 2U);
    EXPECT_THAT(not_one_after_the_other(all), HasSubstr("held for 1 ns"));
    EXPECT_EQ(overlaps({all[0]}, {all[1]}), 1U);
}

TEST(HeldIntervals, WhoseTokensDoNotGrowAreFound) {
    EXPECT_THAT(not_one_after_the_other({held(0, 1, 2), held(3, 5, 2)}), HasSubstr("token"));
    EXPECT_THAT(not_one_after_the_other({held(0, 1, 2), held(3, 5, 1)}), HasSubstr("token"));
}

}  // namespace
}  // namespace latchkey::test
