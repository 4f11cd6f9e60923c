#include "queue_names.hpp"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using namespace test;
using standing = queue_place::standing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct place_case {
    const char* why;
    std::string name;
    standing what;
    std::uint32_t sequence;
};

class Place : public ::testing::TestWithParam<place_case> {};

TEST_P(Place, IsReadFromTheName) {
    const queue_place p = place_of(GetParam().name, plain_names);
    EXPECT_EQ(p.what, GetParam().what) << GetParam().name;
    EXPECT_EQ(p.sequence, GetParam().sequence) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Place,
    ::testing::Values(
        place_case{"curators", curator + "lock-0000000007", standing::participant, 7},
        place_case{"go_zookeepers", go_zk + "lock-0000000042", standing::participant, 42},
        place_case{"without_prefix", "lock-0000000001", standing::participant, 1},
        place_case{"first", curator + "lock-0000000000", standing::participant, 0},
        place_case{"last_that_is_trusted",
                   curator + "lock-2146435071",
                   standing::participant,
                   last_sequence},
        place_case{"marker_twice", "lock-0000000009lock-0000000001", standing::participant, 1},

        place_case{"near_the_end", curator + "lock-2146435072", standing::exhausted, 0},
        place_case{"the_end", curator + "lock-2147483647", standing::exhausted, 0},
        place_case{"ten_digits_past_31_bits", curator + "lock-2147483648", standing::exhausted, 0},
        place_case{"ten_digits_past_32_bits", curator + "lock-4294967297", standing::exhausted, 0},
        place_case{"ten_nines", curator + "lock-9999999999", standing::exhausted, 0},
        place_case{"wrapped", curator + "lock--2147483648", standing::exhausted, 0},
        place_case{"negative_of_nine_digits", curator + "lock--999999999", standing::exhausted, 0},
        place_case{"negative_one", curator + "lock--000000001", standing::exhausted, 0},

        place_case{"nine_digits", curator + "lock-000000001", standing::malformed, 0},
        place_case{"eleven_digits", curator + "lock-00000000001", standing::malformed, 0},
        place_case{"one_digit", "lock-0", standing::malformed, 0},
        place_case{"thousand_digits", "lock-" + std::string(1000, '9'), standing::malformed, 0},

        place_case{"empty", "", standing::foreign, 0},
        place_case{"other_name", "config", standing::foreign, 0},
        place_case{"digits_alone", "0000000001", standing::foreign, 0},
        place_case{"marker_alone", curator + "lock-", standing::foreign, 0},
        place_case{"cut_marker", curator + "lock0000000001", standing::foreign, 0},
        place_case{
            "kazoos", "0123456789abcdef0123456789abcdef__lock__0000000001", standing::foreign, 0},
        place_case{"read_lock", curator + "__READ__0000000001", standing::foreign, 0},
        place_case{"letters_after_digits", "lock-0000000001x", standing::foreign, 0},
        place_case{"digits_and_blank", "lock-000000000 ", standing::foreign, 0},
        place_case{"signed", "lock-+000000001", standing::foreign, 0},
        place_case{"minus_alone", "lock--", standing::foreign, 0},
        place_case{"two_minuses", "lock---000000001", standing::foreign, 0},
        place_case{"hexadecimal", "lock-0x00000001", standing::foreign, 0},
        place_case{
            "other_scripts_digits", "lock-\u0660\u0661\u0662\u0663\u0664", standing::foreign, 0},
        place_case{"nul_after_digits", std::string("lock-0000000001\0", 16), standing::foreign, 0},
        place_case{"capital_marker", "LOCK-0000000001", standing::foreign, 0}),
    [](const auto& tested) { return std::string(tested.param.why); });

TEST(Place, AnotherLibrarysNamesCountWhereTheyAreKnown) {
    constexpr queue_markers known{.exclusive = "lock-", .shared = {}, .others = "__lock__"};
    const std::string kazoo = "0123456789abcdef0123456789abcdef__lock__";
    const queue_place p = place_of(kazoo + "0000000007", known);
    EXPECT_EQ(p.what, queue_place::standing::participant);
    EXPECT_EQ(p.sequence, 7U);
    EXPECT_FALSE(p.shared);
    EXPECT_EQ(place_of(kazoo + "x", known).what, queue_place::standing::foreign);
    EXPECT_EQ(place_of(kazoo + "7", known).what, queue_place::standing::malformed);
    EXPECT_EQ(place_of("x__rlock__0000000007", known).what, queue_place::standing::foreign);
    EXPECT_EQ(place_of(numbered(curator, 7), known).sequence, 7U);
}

TEST(Place, LastSequenceLeavesAMillionJoinsBeforeTheEnd) {
    static_assert(last_sequence == 2'146'435'071U);
    static_assert(0x7FFF'FFFFU - last_sequence >= 1'000'000U);
}

TEST(Newcomer, IsToldOfWhateverWouldKeepItFromTheLock) {
    using enum queue_verdict::answer;
    EXPECT_EQ(decide({}, {}, plain_names, queue_rule::everybody).what, acquired);
    EXPECT_EQ(decide({"config", "0000000001"}, {}, plain_names, queue_rule::everybody).what,
              acquired);
    const auto behind = decide({"config", numbered(curator, 1), numbered(curator, 0)},
                               {},
                               plain_names,
                               queue_rule::everybody);
    EXPECT_EQ(behind.what, wait);
    EXPECT_EQ(behind.blocker, numbered(curator, 1));
    EXPECT_EQ(behind.ahead, 2U);
    EXPECT_EQ(decide({numbered(curator, -1)}, {}, plain_names, queue_rule::everybody).what,
              exhausted);
    EXPECT_EQ(decide({"lock-1"}, {}, plain_names, queue_rule::everybody).what, malformed);
}

TEST(InOrder, SortsParticipantsByNumberAndLeavesOutTheRest) {
    EXPECT_THAT(in_order({numbered(ours, 10),
                          "config",
                          numbered(curator, 9),
                          "lock-1",
                          numbered(curator, -1),
                          numbered(go_zk, 100)},
                         plain_names),
                ElementsAre(numbered(curator, 9), numbered(ours, 10), numbered(go_zk, 100)));
    EXPECT_THAT(in_order({}, plain_names), IsEmpty());
}

TEST(WithPrefix, FindsAllThatOneAttemptMadeLowestNumberFirst) {
    const names list{numbered(ours, 12), numbered(curator, 1), numbered(ours, 7), ours + "config"};
    EXPECT_THAT(queue_list(list, plain_names).with_prefix(ours),
                ElementsAre(numbered(ours, 7), numbered(ours, 12)));
}

TEST(WithPrefix, PutsNumbersThatCannotBeTrustedLast) {
    const names list{numbered(ours, 2147483647), numbered(ours, -2147483648), numbered(ours, 7)};
    EXPECT_THAT(queue_list(list, plain_names).with_prefix(ours),
                ElementsAre(numbered(ours, 7), ::testing::_, ::testing::_));
}

}  // namespace
}  // namespace latchkey
