#include "barrier/double_barrier_round.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

const std::vector<std::string> three{"member-a", "member-b", "member-c"};

TEST(BarrierRound, CountsThoseWhoHaveLeftWhileItIsTheLast) {
    const auto round = double_barrier_round::after(6, {}, three);
    EXPECT_EQ(round.version, 7);
    EXPECT_FALSE(round.all_have_left(9, round.note()));
    EXPECT_TRUE(round.all_have_left(10, round.note()));
}

TEST(BarrierRound, DoesNotCountCuratorsParticipants) {
    const auto round = double_barrier_round::after(6, {}, {"member-a", "0f7c3a", "member-b"});
    EXPECT_FALSE(round.all_have_left(8, round.note()));
    EXPECT_TRUE(round.all_have_left(9, round.note()));
}

TEST(BarrierRound, TellsHowItHasEndedAfterAnyNumberOfOthers) {
    const auto broken = double_barrier_round::after(0, {}, three);
    const auto whole = double_barrier_round::after(3, broken.note(), three);  // two have left
    const auto next = double_barrier_round::after(7, whole.note(), three);
    const auto last = double_barrier_round::after(11, next.note(), three);
    for (const auto* later : {&whole, &next, &last}) {
        EXPECT_FALSE(broken.all_have_left(*later->version + 3, later->note()));
    }
    EXPECT_TRUE(whole.all_have_left(*next.version, next.note()));
    EXPECT_TRUE(whole.all_have_left(*last.version, last.note()));
}

TEST(BarrierRound, ThatNobodyRemembersIsTakenForOneThatLostSomebody) {
    const auto first = double_barrier_round::after(0, {}, three);
    auto later =
        double_barrier_round::after(4, first.note(), three);  // all three have left the first
    for (std::size_t i = 1; i < double_barrier_round::memory; ++i) {
        later =
            double_barrier_round::after(*later.version, later.note(), three);  // nobody has left
        EXPECT_TRUE(first.all_have_left(*later.version, later.note()));
    }
    later = double_barrier_round::after(*later.version, later.note(), three);
    EXPECT_EQ(later.broken.size(), double_barrier_round::memory);
    EXPECT_FALSE(first.all_have_left(*later.version, later.note()));
}

TEST(BarrierRound, IsReadAsItWasWritten) {
    auto round = double_barrier_round::after(0, {}, three);
    round.broken = {3, 5};
    const auto read = double_barrier_round::read(round.write());
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
        EXPECT_TRUE(double_barrier_round::after(6, data, three).broken.empty()) << data;
        EXPECT_TRUE(double_barrier_round::after(6, {}, three).all_have_left(10, data)) << data;
    }
    const auto next =
        double_barrier_round::after(6, R"({"version":6,"counting":0,"broken":["x",2]})", three);
    EXPECT_EQ(next.broken, std::vector<std::int32_t>{2});
}

TEST(BarrierRound, IsReadFromNoMoreThanItCanHaveWritten) {
    const std::string padding(double_barrier_round::longest, ' ');
    const auto round = double_barrier_round::after(0, {}, three);
    EXPECT_FALSE(double_barrier_round::read(round.write() + padding));
    EXPECT_FALSE(round.all_have_left(9, R"({"version":7,"counting":9,"broken":[1]})"));
    EXPECT_TRUE(round.all_have_left(
        9, R"({"version":7,"counting":9,"broken":[1]})" + padding));  // as without any
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
    EXPECT_EQ(double_barrier_round::how_many_fit(names), double_barrier_round::most);
    names.assign(double_barrier_round::most, std::string(1000, '"'));
    const std::size_t fit = double_barrier_round::how_many_fit(names);
    EXPECT_GT(fit, 50U);
    EXPECT_LT(fit, names.size());
    names.resize(fit);
    const auto written = double_barrier_round::after(0, {}, names).write();
    EXPECT_TRUE(double_barrier_round::read(written));
}

TEST(BarrierRound, OfNamesThatAreNoTextIsWrittenAllTheSame) {
    const auto written = double_barrier_round::after(0, {}, {"member-a", "\xED\xA0\x80"}).write();
    const auto read = double_barrier_round::read(written);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->has("member-a"));
    EXPECT_EQ(read->members.size(), 2U);
}

}  // namespace
}  // namespace latchkey
