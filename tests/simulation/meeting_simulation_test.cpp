#include "seeds.hpp"
#include "simulation.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

/// Barriers and groups: nobody holds anything, and all wait for each other.
class MeetingSimulation : public ::testing::TestWithParam<recipe_kind> {};

TEST_P(MeetingSimulation, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = GetParam()}, 200);
    if (std::getenv("LATCHKEY_SEED") != nullptr) {
        GTEST_SKIP() << "says nothing about one seed";
    }
    EXPECT_GT(sum.grants, sum.runs);
}

TEST_P(MeetingSimulation, WithoutFaultsEveryRequestIsAccountedFor) {
    const figures sum = run_seeds({.recipe = GetParam(), .faults = by_fault<double>{}}, 60);
    EXPECT_GT(sum.budgets, 10U);
}

TEST_P(MeetingSimulation, OneSeedGivesOneRun) {
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
        EXPECT_EQ(simulate({.seed = seed, .recipe = GetParam()}).trace,
                  simulate({.seed = seed, .recipe = GetParam()}).trace)
            << seed;
    }
}

constexpr auto recipes =
    std::array{recipe_kind::barrier, recipe_kind::double_barrier, recipe_kind::group};

INSTANTIATE_TEST_SUITE_P(, MeetingSimulation, ::testing::ValuesIn(recipes), [](const auto& r) {
    return std::string(to_string(r.param));
});

class MeetingInEveryCorner : public ::testing::TestWithParam<std::tuple<recipe_kind, corner>> {};

TEST_P(MeetingInEveryCorner, KeepsEveryPromise) {
    const auto [recipe, where] = GetParam();
    const figures sum = run_seeds({.recipe = recipe, .where = where}, 160);
    if (std::getenv("LATCHKEY_SEED") != nullptr) {
        GTEST_SKIP() << "says nothing about one seed";
    }
    EXPECT_GT(sum.grants, sum.runs);
}

INSTANTIATE_TEST_SUITE_P(MeetingSimulation,
                         MeetingInEveryCorner,
                         ::testing::Combine(::testing::ValuesIn(recipes), every_corner),
                         [](const auto& r) {
                             std::string name = std::string(to_string(std::get<0>(r.param))) + '_' +
                                                to_string(std::get<1>(r.param));
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace latchkey::simulation
