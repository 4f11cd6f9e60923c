#include "number_from.hpp"
#include "simulation.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

TEST(AdapterSimulation, SessionsKeepTheirPromisesUnderFaults) {
    adapter_run all;
    const std::uint64_t seeds = number_from("LATCHKEY_SEEDS", 200);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const adapter_run run = simulate_adapter(seed);
        ASSERT_TRUE(run.violations.empty())
            << "seed " << seed << ": " << run.violations.front().promise << ": "
            << run.violations.front().text;
        all.add(run);
    }
    if (seeds < 200) {
        return;  // few seeds meet little
    }
    // Else it has shown nothing.
    EXPECT_GT(all.answered, 10'000U);
    EXPECT_GT(all.lost, 1'000U);
    EXPECT_GT(all.connected, 1'000U);
    EXPECT_GT(all.watches, 1'000U);
    EXPECT_GT(all.expired, 10U);
    EXPECT_GT(all.malformed, 10U);
}

TEST(AdapterSimulation, ASeedIsARun) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const adapter_run first = simulate_adapter(seed);
        const adapter_run again = simulate_adapter(seed);
        EXPECT_EQ(first.trace, again.trace);
        EXPECT_EQ(first.answered, again.answered);
    }
}

}  // namespace
}  // namespace latchkey::test
