#include "seeds.hpp"
#include "simulation.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

constexpr recipe_kind latch = recipe_kind::leader_latch;

TEST(LeaderSimulation, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = latch}, 200);
    if (std::getenv("LATCHKEY_SEED") != nullptr) {
        GTEST_SKIP() << "says nothing about one seed";
    }
    EXPECT_GT(sum.grants, sum.runs * 5) << "terms";
    EXPECT_GT(sum.losses, sum.runs);
    EXPECT_GT(sum.overlaps, 0U);
    EXPECT_GT(sum.refused_transactions, 0U);
    EXPECT_GT(sum.conversions, sum.runs) << "handed over";
    EXPECT_GT(sum.unconverted, 0U) << "offered, and not accepted in time";
    EXPECT_GT(sum.timely, sum.runs) << "looks whether an observer knows the truth";
}

class LeaderInEveryCorner : public ::testing::TestWithParam<corner> {};

TEST_P(LeaderInEveryCorner, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = latch, .where = GetParam()}, 80);
    EXPECT_GT(sum.grants, sum.runs * 3);
}

INSTANTIATE_TEST_SUITE_P(LeaderSimulation, LeaderInEveryCorner, every_corner, name_of_corner);

TEST(LeaderSimulation, FaultsOfNetworkServersAndClientsNeverLetTwoLead) {
    const figures sum =
        run_seeds({.recipe = latch, .faults = faults_of_network_servers_and_clients()}, 80);
    EXPECT_EQ(sum.overlaps, 0U) << "nobody took a znode away";
}

TEST(LeaderSimulation, WithoutFaultsEveryRequestIsAccountedFor) {
    const figures sum = run_seeds({.recipe = latch, .faults = by_fault<double>{}}, 80);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_GT(sum.budgets, sum.runs / 2);
}

constexpr recipe_kind selector = recipe_kind::leader_selector;

TEST(SelectorSimulation, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = selector}, 200);
    if (std::getenv("LATCHKEY_SEED") != nullptr) {
        GTEST_SKIP() << "says nothing about one seed";
    }
    EXPECT_GT(sum.grants, sum.runs * 5) << "terms";
    EXPECT_GT(sum.losses, sum.runs);
    EXPECT_GT(sum.calls, sum.runs) << "mutexes on the same paths";
    EXPECT_GT(sum.refused_transactions, 0U);
    EXPECT_GT(sum.lists, sum.runs) << "told to observers";
    EXPECT_GT(sum.timely, sum.runs) << "looks whether an observer knows the truth";
    EXPECT_GT(sum.budgets, 0U);
}

class SelectorInEveryCorner : public ::testing::TestWithParam<corner> {};

TEST_P(SelectorInEveryCorner, KeepsEveryPromise) {
    const figures sum = run_seeds({.recipe = selector, .where = GetParam()}, 40);
    EXPECT_GT(sum.grants, sum.runs * 3);
}

INSTANTIATE_TEST_SUITE_P(LeaderSimulation, SelectorInEveryCorner, every_corner, name_of_corner);

TEST(SelectorSimulation, WithoutFaultsEveryRequestIsAccountedFor) {
    const figures sum = run_seeds({.recipe = selector, .faults = by_fault<double>{}}, 60);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_GT(sum.budgets, sum.runs / 2);
}

TEST(SelectorSimulation, OneSeedGivesOneRun) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        EXPECT_EQ(simulate({.seed = seed, .recipe = selector}).trace,
                  simulate({.seed = seed, .recipe = selector}).trace)
            << seed;
    }
}

TEST(LeaderSimulation, OneSeedGivesOneRun) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
        EXPECT_EQ(simulate({.seed = seed, .recipe = latch}).trace,
                  simulate({.seed = seed, .recipe = latch}).trace)
            << seed;
    }
}

}  // namespace
}  // namespace latchkey::simulation
