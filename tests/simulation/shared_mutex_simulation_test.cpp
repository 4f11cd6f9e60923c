#include "seeds.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

constexpr auto shared_mutex = recipe_kind::shared_mutex;

/// Readers, writers and upgraders who change their modes while they hold.
TEST(SharedMutexSimulation, EverySeedKeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = shared_mutex}, 500);
    EXPECT_GT(sum.grants, sum.runs * 10);
    EXPECT_GT(sum.conversions, sum.runs * 5);
    EXPECT_GT(sum.unconverted, sum.runs * 5);
    std::ostringstream report;
    report << sum;
    RecordProperty("figures", report.str());
}

class SharedMutexCorner : public ::testing::TestWithParam<corner> {};

TEST_P(SharedMutexCorner, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = shared_mutex, .where = GetParam()}, 100);
    EXPECT_GT(sum.grants, sum.runs * 3);
}

INSTANTIATE_TEST_SUITE_P(Simulation, SharedMutexCorner, every_corner, name_of_corner);

TEST(SharedMutexSimulation, FaultsOfConnectionsAloneLoseNothing) {
    const figures sum = run_seeds(
        {.recipe = shared_mutex,
         .faults = only({fault::request_lost, fault::answer_lost, fault::connection_cut})},
        100);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_EQ(sum.fenced_off, 0U);
}

TEST(SharedMutexSimulation, WithoutFaultsEveryRequestIsAccountedFor) {
    const figures sum = run_seeds({.recipe = shared_mutex, .faults = by_fault<double>{}}, 100);
    EXPECT_EQ(sum.losses, 0U);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_GT(sum.budgets, sum.runs);
}

TEST(SharedMutexSimulation, OneSeedGivesOneRun) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        const options how{.seed = seed, .recipe = shared_mutex};
        EXPECT_EQ(simulate(how).trace, simulate(how).trace) << seed;
        EXPECT_NE(simulate(how).trace, simulate({.seed = seed}).trace) << seed;
    }
}

}  // namespace
}  // namespace latchkey::simulation
