#include "simulation.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

using namespace std::chrono_literals;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// LATCHKEY_SEED runs one seed again; LATCHKEY_SEEDS runs more of them.
figures run_seeds(const std::optional<testing::faults>& faults) {
    const std::uint64_t first = number_from("LATCHKEY_SEED", 1);
    const bool one = std::getenv("LATCHKEY_SEED") != nullptr;
    const std::uint64_t count = one ? 1 : number_from("LATCHKEY_SEEDS", 40);
    figures sum;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const verdict v = simulate({.seed = seed, .faults = faults});
        for (const violation& broken : v.violations) {
            ADD_FAILURE() << "LATCHKEY_SEED=" << seed << ": " << broken.invariant << " at "
                          << broken.at / 1ms << " ms: " << broken.text;
        }
        sum += v.counts;
        if (!v.violations.empty()) {
            break;
        }
    }
    ::testing::Test::RecordProperty("grants", std::to_string(sum.grants));
    return sum;
}

TEST(Simulation, FaultsOfNetworkServersAndClientsNeverLetTwoBelieve) {
    const figures sum = run_seeds({});
    EXPECT_GT(sum.grants, sum.runs * 5);
}

TEST(Simulation, FaultsOfConnectionsAloneLoseNothing) {
    const figures sum = run_seeds(testing::faults{
        .cut_before = 0.05, .cut_after = 0.1, .interval = 100ms, .cut = 0.3, .lasting = 1s});
    EXPECT_GT(sum.grants, sum.runs * 5);
}

TEST(Simulation, OneSeedGivesOneRun) {
    const verdict once = simulate({.seed = 7});
    const verdict again = simulate({.seed = 7});
    EXPECT_EQ(once.trace, again.trace);
    EXPECT_NE(once.trace, simulate({.seed = 8}).trace);
}

}  // namespace
}  // namespace latchkey::simulation
