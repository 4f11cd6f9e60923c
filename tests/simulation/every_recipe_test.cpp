// Each recipe in the simulation: one row says what its runs have to come to.
#include "seeds.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

/// The numbers say that the runs have tested something: each is exceeded, on average.
struct expected {
    recipe_kind recipe;
    std::uint64_t seeds;
    std::uint64_t seeds_in_corner;
    std::uint64_t seeds_without_faults;
    double grants;
    double grants_in_corner;
    double accounted_for;   ///< without faults: calls whose requests were counted
    bool may_lose = false;  ///< also without faults: leaders resign, participants go for good
    void (*also)(const figures&) = [](const figures&) {};
};

void PrintTo(const expected& e, std::ostream* out) {
    *out << to_string(e.recipe);
}

void converts(const figures& sum) {
    EXPECT_GT(sum.conversions, sum.runs * 5);
    EXPECT_GT(sum.unconverted, sum.runs * 5);
}

void has_terms(const figures& sum) {
    EXPECT_GT(sum.losses, sum.runs);
    EXPECT_GT(sum.refused_transactions, 0U);
    EXPECT_GT(sum.timely, sum.runs) << "looks whether an observer knows the truth";
}

void hands_over(const figures& sum) {
    has_terms(sum);
    EXPECT_GT(sum.overlaps, 0U);
    EXPECT_GT(sum.conversions, sum.runs / 2) << "handed over";
    EXPECT_GT(sum.unconverted, 0U) << "offered, and not accepted in time";
}

void calls_functions(const figures& sum) {
    has_terms(sum);
    EXPECT_GT(sum.calls, sum.runs) << "mutexes on the same paths";
    EXPECT_GT(sum.lists, sum.runs) << "told to observers";
    EXPECT_GT(sum.budgets, 0U);
}

// The mutex has more: simulation_test.cpp.
const auto recipes = ::testing::Values(
    expected{recipe_kind::shared_mutex, 500, 100, 100, 10, 3, 1, false, converts},
    expected{recipe_kind::semaphore, 200, 30, 50, 10, 3, 0.2},
    expected{recipe_kind::curator_semaphore, 200, 30, 50, 10, 3, 0.2},
    expected{recipe_kind::multi_mutex, 200, 30, 50, 10, 3, 0.2},
    expected{recipe_kind::leader_latch, 200, 80, 80, 5, 3, 0.5, true, hands_over},
    expected{recipe_kind::leader_selector, 200, 40, 60, 5, 3, 0.5, true, calls_functions},
    expected{recipe_kind::barrier, 200, 60, 60, 1, 1, 0.2},
    expected{recipe_kind::double_barrier, 200, 60, 60, 1, 1, 0.2, true},
    expected{recipe_kind::group, 200, 60, 60, 1, 1, 0.2});

/// A few seeds say nothing about averages.
bool has_averages(const figures& sum) {
    return sum.runs >= 50;
}

void expect_on_average(std::size_t what, double least, const figures& sum) {
    if (has_averages(sum)) {
        EXPECT_GT(double(what), least * double(sum.runs));
    }
}

class EveryRecipe : public ::testing::TestWithParam<expected> {};

TEST_P(EveryRecipe, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = GetParam().recipe}, GetParam().seeds);
    expect_on_average(sum.grants, GetParam().grants, sum);
    if (has_averages(sum)) {
        GetParam().also(sum);
    }
    std::ostringstream report;
    report << sum;
    RecordProperty("figures", report.str());
}

TEST_P(EveryRecipe, AccountsForEveryRequestWithoutFaults) {
    const figures sum = run_seeds({.recipe = GetParam().recipe, .faults = by_fault<double>{}},
                                  GetParam().seeds_without_faults);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_TRUE(sum.losses == 0 || GetParam().may_lose);
    expect_on_average(sum.budgets, GetParam().accounted_for, sum);
}

TEST_P(EveryRecipe, RunsTheSameForTheSameSeed) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const options how{.seed = seed, .recipe = GetParam().recipe};
        EXPECT_EQ(simulate(how).trace, simulate(how).trace) << seed;
        EXPECT_NE(simulate(how).trace, simulate({.seed = seed}).trace) << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(, EveryRecipe, recipes, ::testing::PrintToStringParamName());

class EveryRecipeInEveryCorner : public ::testing::TestWithParam<std::tuple<expected, corner>> {};

TEST_P(EveryRecipeInEveryCorner, KeepsEveryPromise) {
    const auto& [row, where] = GetParam();
    const figures sum = run_seeds({.recipe = row.recipe, .where = where}, row.seeds_in_corner);
    expect_on_average(sum.grants, row.grants_in_corner, sum);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<expected, corner>>& p) {
    std::string name =
        std::string(to_string(std::get<0>(p.param).recipe)) + '_' + to_string(std::get<1>(p.param));
    std::erase(name, '-');
    return name;
}

INSTANTIATE_TEST_SUITE_P(,
                         EveryRecipeInEveryCorner,
                         ::testing::Combine(recipes, every_corner),
                         name_of);

/// What holds as long as only some kinds of faults come.
struct spared {
    recipe_kind recipe;
    std::uint64_t seeds;
    by_fault<double> faults;
    std::size_t figures::*none;
};

void PrintTo(const spared& s, std::ostream* out) {
    *out << to_string(s.recipe);
}

const auto of_connections = only({fault::request_lost, fault::answer_lost, fault::connection_cut});

class SparedRecipe : public ::testing::TestWithParam<spared> {};

TEST_P(SparedRecipe, NeverLetsTwoBelieveAndLosesNothingByConnections) {
    const auto& [recipe, seeds, faults, none] = GetParam();
    const figures sum = run_seeds({.recipe = recipe, .faults = faults}, seeds);
    EXPECT_EQ(sum.overlaps, 0U) << "nobody took a znode away";
    EXPECT_EQ(sum.*none, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    ,
    SparedRecipe,
    ::testing::Values(spared{recipe_kind::shared_mutex, 100, of_connections, &figures::fenced_off},
                      spared{recipe_kind::semaphore, 50, of_connections, &figures::losses},
                      spared{recipe_kind::curator_semaphore, 50, of_connections, &figures::losses},
                      spared{recipe_kind::multi_mutex,
                             80,
                             faults_of_network_servers_and_clients(),
                             &figures::overlaps},
                      spared{recipe_kind::leader_latch,
                             80,
                             faults_of_network_servers_and_clients(),
                             &figures::overlaps}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace latchkey::simulation
