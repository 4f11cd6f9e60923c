// Multi-locks of several sets in the simulation, beside single locks of the same directories.
#include "seeds.hpp"
#include "simulation.hpp"

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

constexpr recipe_kind recipe = recipe_kind::multi_mutex;

TEST(EveryMultiMutex, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = recipe}, 200);
    EXPECT_GT(sum.grants, sum.runs * 10);
}

TEST(EveryMultiMutex, KeepsEveryPromiseInEveryCorner) {
    for (const corner where : {corner::cut_off,
                               corner::woken_up,
                               corner::taken_away,
                               corner::crowded,
                               corner::unresolved}) {
        const figures sum = run_seeds({.recipe = recipe, .where = where}, 30);
        EXPECT_GT(sum.grants, sum.runs * 3) << to_string(where);
    }
}

TEST(EveryMultiMutex, NeverLetsTwoBelieveWithoutAnOperator) {
    const figures sum = run_seeds({.recipe = recipe,
                                   .faults = only({fault::request_lost,
                                                   fault::answer_lost,
                                                   fault::connection_cut,
                                                   fault::paused,
                                                   fault::server_stopped,
                                                   fault::leader_isolated})},
                                  50);
    EXPECT_EQ(sum.overlaps, 0U) << "nobody took a znode away";
}

TEST(EveryMultiMutex, AccountsForEveryRequestWithoutFaults) {
    const figures sum = run_seeds({.recipe = recipe, .faults = by_fault<double>{}}, 50);
    EXPECT_EQ(sum.losses, 0U);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_GT(sum.budgets, 10U);
}

}  // namespace
}  // namespace latchkey::simulation
