// Permits in the simulation: semaphores, ours and Curator's.
#include "seeds.hpp"
#include "simulation.hpp"

#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

class EverySemaphore : public ::testing::TestWithParam<recipe_kind> {};

TEST_P(EverySemaphore, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = GetParam()}, 200);
    EXPECT_GT(sum.grants, sum.runs * 10);
}

TEST_P(EverySemaphore, KeepsEveryPromiseInEveryCorner) {
    for (const corner where : {corner::cut_off,
                               corner::woken_up,
                               corner::taken_away,
                               corner::crowded,
                               corner::unresolved}) {
        const figures sum = run_seeds({.recipe = GetParam(), .where = where}, 30);
        EXPECT_GT(sum.grants, sum.runs * 3) << to_string(where);
    }
}

TEST_P(EverySemaphore, AccountsForEveryRequestWithoutFaults) {
    const figures sum = run_seeds({.recipe = GetParam(), .faults = by_fault<double>{}}, 50);
    EXPECT_EQ(sum.losses, 0U);
    EXPECT_GT(sum.budgets, 10U);
}

TEST_P(EverySemaphore, LosesNothingByFaultsOfConnectionsAlone) {
    const figures sum = run_seeds(
        {.recipe = GetParam(),
         .faults = only({fault::request_lost, fault::answer_lost, fault::connection_cut})},
        50);
    EXPECT_EQ(sum.losses, 0U);
}

INSTANTIATE_TEST_SUITE_P(Simulation,
                         EverySemaphore,
                         ::testing::Values(recipe_kind::semaphore, recipe_kind::curator_semaphore),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

}  // namespace
}  // namespace latchkey::simulation
