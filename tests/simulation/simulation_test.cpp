#include "simulation.hpp"

#include "seeds.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

class EverySeed : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(EverySeed, KeepsEveryPromise) {
    const figures sum = run_seeds({.seed = GetParam()}, 500);
    std::ostringstream report;
    report << sum;
    RecordProperty("figures", report.str());
    if (sum.runs < 300) {
        return;  // few seeds do not meet everything
    }
    for (std::size_t i = 0; i < fault_kinds; ++i) {
        EXPECT_GT(sum.faults[i], 10U) << to_string(fault_at(i));
    }
    EXPECT_GT(sum.events, sum.runs * 300);
    EXPECT_GT(sum.grants, sum.runs * 5);
    EXPECT_GT(sum.losses, sum.runs / 10);
    EXPECT_GT(sum.overlaps, 0U);
    EXPECT_GT(sum.fenced_off, 0U);
    EXPECT_GT(sum.refused_transactions, 0U);
    EXPECT_GT(sum.late_grants, 0U);
}

INSTANTIATE_TEST_SUITE_P(Simulation,
                         EverySeed,
                         ::testing::Values(1, 1001, 2001, 3001),
                         [](const auto& shard) { return std::to_string(shard.param); });

class EveryCorner : public ::testing::TestWithParam<corner> {};

TEST_P(EveryCorner, KeepsEveryPromise) {
    const figures sum = run_seeds({.where = GetParam()}, 300);
    EXPECT_GT(sum.grants, sum.runs * 3);
    if (GetParam() == corner::timed && sum.runs >= 200) {
        EXPECT_GT(sum.timed_out, sum.runs);
        EXPECT_GT(sum.stayed, sum.runs);
        EXPECT_GT(sum.delayed, 5U);
    }
    if (GetParam() == corner::direct && sum.runs >= 200) {
        EXPECT_GT(sum.direct, sum.runs);
        EXPECT_GT(sum.guarded, 5U);
    }
}

INSTANTIATE_TEST_SUITE_P(Simulation,
                         EveryCorner,
                         ::testing::ValuesIn(every_corner),
                         name_of_corner);

TEST(Simulation, FaultsOfNetworkServersAndClientsNeverLetTwoBelieve) {
    const figures sum = run_seeds({.faults = faults_of_network_servers_and_clients()}, 300);
    EXPECT_EQ(sum.overlaps, 0U) << "nobody took a znode away";
    EXPECT_GT(sum.grants, sum.runs);
}

TEST(Simulation, FaultsOfConnectionsAloneLoseNothing) {
    const figures sum = run_seeds(
        {.faults = only({fault::request_lost, fault::answer_lost, fault::connection_cut})}, 300);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_EQ(sum.fenced_off, 0U);
    EXPECT_GT(sum.grants, sum.runs * 5);
}

TEST(Simulation, WithoutFaultsEveryRequestIsAccountedFor) {
    const figures sum = run_seeds({.faults = by_fault<double>{}}, 200);

    EXPECT_EQ(sum.losses, 0U);
    EXPECT_EQ(sum.overlaps, 0U);
    EXPECT_GT(sum.budgets, sum.runs);
}

/// How often callers of one object hold after each other in one place.
struct expected_turns {
    recipe_kind recipe;
    std::uint64_t seeds;
    double turns;       ///< on average; this is exceeded
    double passes = 0;  ///< while another participant waits; 0: as many as come
};

void PrintTo(const expected_turns& e, std::ostream* out) {
    *out << to_string(e.recipe);
}

class Turns : public ::testing::TestWithParam<expected_turns> {};

TEST_P(Turns, KeepEveryPromise) {
    const expected_turns& e = GetParam();
    const figures sum = run_seeds({.recipe = e.recipe, .where = corner::turns}, e.seeds);
    if (sum.runs < e.seeds) {
        GTEST_SKIP() << "says nothing about few seeds";
    }
    EXPECT_GT(double(sum.turns), e.turns * double(sum.runs));
    if (e.passes > 0) {
        EXPECT_GT(double(sum.passes), e.passes * double(sum.runs));
    }
}

INSTANTIATE_TEST_SUITE_P(Simulation,
                         Turns,
                         ::testing::Values(expected_turns{recipe_kind::mutex, 200, 1, 0.1},
                                           expected_turns{
                                               recipe_kind::shared_mutex, 150, 0.3, 0.05}),
                         ::testing::PrintToStringParamName());

TEST(Simulation, MeetsLongQueues) {
    const figures sum = run_seeds({.faults = by_fault<double>{}, .where = corner::deep}, 200);
    EXPECT_EQ(sum.overlaps, 0U);
    if (sum.runs < 200) {
        GTEST_SKIP() << "says nothing about few seeds";
    }
    EXPECT_GT(sum.fronts, sum.runs * 20);
    EXPECT_GT(sum.budgets, 0U);
}

TEST(Simulation, OneSeedGivesOneRun) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        EXPECT_EQ(simulate({.seed = seed}).trace, simulate({.seed = seed}).trace) << seed;
    }
    EXPECT_NE(simulate({.seed = 1}).trace, simulate({.seed = 2}).trace);
}

std::string trace_of_process(std::uint64_t seed) {
    const std::string command = "'" LATCHKEY_SIMULATE "' --seed " + std::to_string(seed);
    std::FILE* const output = ::popen(command.c_str(), "r");
    std::string all;
    std::array<char, 256> line{};
    while (output != nullptr && std::fgets(line.data(), line.size(), output) != nullptr) {
        all = line.data();
    }
    EXPECT_TRUE(output != nullptr && ::pclose(output) == 0) << command;
    return all;  // the last line
}

TEST(Simulation, OneSeedGivesOneRunInEveryProcess) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        std::array<char, 32> expected{};
        std::snprintf(expected.data(),
                      expected.size(),
                      "trace %016llx\n",
                      static_cast<unsigned long long>(simulate({.seed = seed}).trace));
        EXPECT_EQ(trace_of_process(seed), expected.data()) << seed;
    }
}

}  // namespace
}  // namespace latchkey::simulation
