// Each recipe in the simulation: one row says what its runs have to come to.
#include "seeds.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

/// The numbers say that the runs have tested something: each is exceeded, on average. There are
/// fewer seeds where one has more events, so that no recipe takes much longer than the others.
struct expected {
    recipe_kind recipe;
    std::uint64_t seeds;
    std::uint64_t seeds_in_corner;
    std::uint64_t seeds_without_faults;
    double grants;
    double grants_in_corner;
    double accounted_for;   ///< without faults: calls whose requests were counted
    bool has_times = true;  ///< else corner::timed is no other place than corner::everywhere
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
const std::vector<expected> recipes{
    {recipe_kind::shared_mutex, 250, 50, 50, 10, 3, 1, true, false, converts},
    {recipe_kind::semaphore, 100, 30, 40, 10, 3, 0.2},
    {recipe_kind::curator_semaphore, 100, 30, 40, 10, 3, 0.2},
    {recipe_kind::multi_mutex, 150, 30, 40, 10, 3, 0.2},
    {recipe_kind::leader_latch, 200, 30, 30, 5, 3, 0.5, false, true, hands_over},
    {recipe_kind::leader_selector, 100, 30, 30, 5, 3, 0.5, false, true, calls_functions},
    {recipe_kind::barrier, 100, 30, 40, 1, 1, 0.2, false},
    {recipe_kind::double_barrier, 80, 20, 20, 1, 1, 0.2, false, true},
    {recipe_kind::group, 60, 20, 20, 1, 1, 0.2, false}};

/// A few seeds say nothing about averages.
void expect_on_average(std::size_t what, double least, const figures& sum) {
    if (sum.runs >= 20) {
        EXPECT_GT(double(what), least * double(sum.runs));
    }
}

class EveryRecipe : public ::testing::TestWithParam<expected> {};

TEST_P(EveryRecipe, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = GetParam().recipe}, GetParam().seeds);
    expect_on_average(sum.grants, GetParam().grants, sum);
    if (sum.runs >= GetParam().seeds) {  // fewer may lack what is rare
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
    for (std::uint64_t seed = 1; seed < 3; ++seed) {
        const options how{.seed = seed, .recipe = GetParam().recipe};
        EXPECT_EQ(simulate(how).trace, simulate(how).trace) << seed;
        EXPECT_NE(simulate(how).trace, simulate({.seed = seed}).trace) << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(,
                         EveryRecipe,
                         ::testing::ValuesIn(recipes),
                         ::testing::PrintToStringParamName());

std::vector<std::tuple<expected, corner>> recipes_in_corners() {
    std::vector<std::tuple<expected, corner>> all;
    for (const expected& row : recipes) {
        for (const corner where : every_corner) {
            if (row.has_times || where != corner::timed) {
                all.emplace_back(row, where);
            }
        }
    }
    return all;
}

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
                         ::testing::ValuesIn(recipes_in_corners()),
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
