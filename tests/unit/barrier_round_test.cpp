#include "round.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

const std::vector<std::string> three{"member-a", "member-b", "member-c"};

TEST(BarrierRound, CountsThoseWhoHaveLeftWhileItIsTheLast) {
    const auto round = barrier_round::after(6, {}, three);
    EXPECT_EQ(round.version, 7);
    EXPECT_FALSE(round.all_have_left(9, round.note()));
    EXPECT_TRUE(round.all_have_left(10, round.note()));
}

TEST(BarrierRound, DoesNotCountCuratorsParticipants) {
    const auto round = barrier_round::after(6, {}, {"member-a", "0f7c3a", "member-b"});
    EXPECT_FALSE(round.all_have_left(8, round.note()));
    EXPECT_TRUE(round.all_have_left(9, round.note()));
}

TEST(BarrierRound, TellsHowItHasEndedAfterAnyNumberOfOthers) {
    const auto broken = barrier_round::after(0, {}, three);
    const auto whole = barrier_round::after(3, broken.note(), three);  // two have left
    const auto next = barrier_round::after(7, whole.note(), three);
    const auto last = barrier_round::after(11, next.note(), three);
    for (const auto* later : {&whole, &next, &last}) {
        EXPECT_FALSE(broken.all_have_left(*later->version + 3, later->note()));
    }
    EXPECT_TRUE(whole.all_have_left(*next.version, next.note()));
    EXPECT_TRUE(whole.all_have_left(*last.version, last.note()));
}

TEST(BarrierRound, ThatNobodyRemembersIsTakenForOneThatLostSomebody) {
    const auto first = barrier_round::after(0, {}, three);
    auto later = barrier_round::after(4, first.note(), three);  // all three have left the first
    for (std::size_t i = 1; i < barrier_round::memory; ++i) {
        later = barrier_round::after(*later.version, later.note(), three);  // nobody has left
        EXPECT_TRUE(first.all_have_left(*later.version, later.note()));
    }
    later = barrier_round::after(*later.version, later.note(), three);
    EXPECT_EQ(later.broken.size(), barrier_round::memory);
    EXPECT_FALSE(first.all_have_left(*later.version, later.note()));
}

TEST(BarrierRound, IsReadAsItWasWritten) {
    auto round = barrier_round::after(0, {}, three);
    round.broken = {3, 5};
    const auto read = barrier_round::read(round.write());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->members, three);
    EXPECT_EQ(read->version, 1);
    EXPECT_EQ(read->broken, (std::vector<std::int32_t>{3, 5}));
}

TEST(BarrierRound, TakesNothingFromDataThatIsNotOurs) {
    for (const std::string data : {"",
                                   "10.0.0.7",
                                   "[]",
                                   "{}",
                                   R"({"version":"x","counting":3})",
                                   R"({"version":1,"counting":[]})"}) {
        EXPECT_TRUE(barrier_round::after(6, data, three).broken.empty()) << data;
        EXPECT_TRUE(barrier_round::after(6, {}, three).all_have_left(10, data)) << data;
    }
    const auto next =
        barrier_round::after(6, R"({"version":6,"counting":0,"broken":["x",2]})", three);
    EXPECT_EQ(next.broken, std::vector<std::int32_t>{2});
}

}  // namespace
}  // namespace latchkey
