#include "barrier/double_barrier_round.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

const std::vector<std::string> three{"member-a", "member-b", "member-c"};

double_barrier_round round_of(std::vector<std::string> members, std::int32_t version = 1) {
    return {std::move(members), version};
}

TEST(BarrierRound, CountsThoseWhoHaveLeftWhileItIsTheLast) {
    const auto round = round_of(three, 7);
    EXPECT_EQ(round.version, 7);
    EXPECT_FALSE(round.all_have_left(9, round.note()));
    EXPECT_TRUE(round.all_have_left(10, round.note()));
}

TEST(BarrierRound, DoesNotCountCuratorsParticipants) {
    const auto round = round_of({"member-a", "0f7c3a", "member-b"}, 7);
    EXPECT_FALSE(round.all_have_left(8, round.note()));
    EXPECT_TRUE(round.all_have_left(9, round.note()));
}

TEST(BarrierRound, IsOverWithoutALossForWhoLooksWhenALaterOneHasBegun) {
    const auto first = round_of(three);
    const auto later = round_of(three, 3);  // two have left
    EXPECT_FALSE(first.all_have_left(3, first.note()));
    EXPECT_TRUE(first.all_have_left(3, later.note()));
    EXPECT_EQ(double_barrier_round::read_note(first.note()), first.version);
    EXPECT_EQ(double_barrier_round::read_note(later.note()), later.version);
}

TEST(BarrierRound, IsReadAsItWasWritten) {
    const auto round = round_of(three);
    const auto read = double_barrier_round::read(round.write());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->members, three);
    EXPECT_EQ(read->version, 1);
}

TEST(BarrierRound, TakesNothingFromDataThatIsNotOurs) {
    for (const std::string data :
         {"", "10.0.0.7", "[]", "{}", R"({"round":"x"})", R"({"round":[]})"}) {
        EXPECT_FALSE(double_barrier_round::read_note(data)) << data;
        EXPECT_FALSE(round_of(three, 7).all_have_left(9, data)) << data;
        EXPECT_TRUE(round_of(three, 7).all_have_left(10, data)) << data;
    }
}

TEST(BarrierRound, IsReadFromNoMoreThanItCanHaveWritten) {
    const std::string padding(double_barrier_round::longest, ' ');
    const auto round = round_of(three);
    EXPECT_FALSE(double_barrier_round::read(round.write() + padding));
    EXPECT_TRUE(round.all_have_left(3, R"({"round":7})"));
    EXPECT_FALSE(round.all_have_left(3, R"({"round":7})" + padding));  // as without any
    EXPECT_FALSE(double_barrier_round::read(std::string(200'000, '[')));
    EXPECT_FALSE(double_barrier_round::read(R"({"version":1,"members":[["member-a"]]})"));
    std::string many = R"({"version":1,"members":["a")";
    for (std::size_t i = 0; i < double_barrier_round::most; ++i) {
        many += R"(,"a")";
    }
    EXPECT_FALSE(double_barrier_round::read(many + "]}"));
}

TEST(BarrierRound, HasNoMoreMembersThanCanBeRead) {
    std::vector<std::string> names(double_barrier_round::most + 1, std::string(43, 'm'));
    names.back() = "member-a";
    const auto fit = double_barrier_round::those_that_fit(names, "member-a");
    EXPECT_EQ(fit.size(), double_barrier_round::most);
    EXPECT_TRUE(round_of(fit).has("member-a"));
    names.assign(double_barrier_round::most, std::string(1000, '"'));
    const auto long_ones = double_barrier_round::those_that_fit(names, names.front());
    EXPECT_GT(long_ones.size(), 50U);
    EXPECT_LT(long_ones.size(), names.size());
    EXPECT_TRUE(double_barrier_round::read(round_of(long_ones).write()));
}

TEST(BarrierRound, OfNamesThatAreNoTextIsWrittenAllTheSame) {
    const auto written = round_of({"member-a", "\xED\xA0\x80"}).write();
    const auto read = double_barrier_round::read(written);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->has("member-a"));
    EXPECT_EQ(read->members.size(), 2U);
}

}  // namespace
}  // namespace latchkey
