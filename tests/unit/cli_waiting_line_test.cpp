#include "run/waiting_line.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::cli {

namespace {

using namespace std::chrono_literals;
using names = std::vector<std::string>;

TEST(PlaceAmong, CountsThoseWithLowerNumbers) {
    const names queue{"_c_z-lock-0000000009", "x-lock-0000000010", "_c_a-lock-0000000011", "notes"};
    const auto place = [&](const char* own) { return place_among(queue, own); };
    EXPECT_EQ(place("_c_z-lock-0000000009"), (line_place{0, ""}));
    EXPECT_EQ(place("x-lock-0000000010"), (line_place{1, "_c_z-lock-0000000009"}));
    EXPECT_EQ(place("_c_a-lock-0000000011"), (line_place{2, "x-lock-0000000010"}));
    EXPECT_EQ(place("_c_b-lock-0000000012"), std::nullopt) << "it has left";
    EXPECT_EQ(place("notes"), std::nullopt);
    EXPECT_EQ(place(""), (line_place{3, "_c_z-lock-0000000009"})) << "the first of an election";
    EXPECT_EQ(place_among({}, ""), (line_place{0, ""}));
}

TEST(PlaceAmong, ReadersWaitForWritersAlone) {
    const names queue{
        "a__READ__0000000001", "b__WRIT__0000000002", "c__READ__0000000003", "d__WRIT__0000000004"};
    EXPECT_EQ(place_among(queue, "c__READ__0000000003"), (line_place{1, "b__WRIT__0000000002"}));
    EXPECT_EQ(place_among(queue, "d__WRIT__0000000004"), (line_place{3, "c__READ__0000000003"}));
    EXPECT_EQ(place_among(queue, "a__READ__0000000001"), (line_place{0, ""}));
}

TEST(WaitingLineText, Ordinals) {
    for (const auto& [number, text] :
         std::vector<std::pair<std::size_t, const char*>>{{1, "1st"},
                                                          {2, "2nd"},
                                                          {3, "3rd"},
                                                          {4, "4th"},
                                                          {11, "11th"},
                                                          {12, "12th"},
                                                          {13, "13th"},
                                                          {21, "21st"},
                                                          {102, "102nd"},
                                                          {111, "111th"},
                                                          {1013, "1013th"}}) {
        EXPECT_EQ(ordinal(number), text);
    }
}

TEST(WaitingLineText, Clock) {
    EXPECT_EQ(clock_text(31s), "00:31");
    EXPECT_EQ(clock_text(59min + 59s), "59:59");
    EXPECT_EQ(clock_text(26h + 2min + 3s), "26:02:03");
}

}  // namespace

}  // namespace latchkey::cli
