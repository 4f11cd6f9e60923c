#include "mutants_check.hpp"
#include "mutants_kill.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

class AdapterMutant : public ::testing::TestWithParam<mutant_description> {};

TEST_P(AdapterMutant, IsKilled) {
    expect_killed(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, AdapterMutant, ::testing::ValuesIn(all_mutants), [](const auto& i) {
    return std::string(i.param.id);
});

TEST(AdapterMutants, SayWhichPromisesTheyBreak) {
    expect_killers_named();
}

// A promise that no mutant breaks may be one that nothing checks.
TEST(AdapterMutants, BreakEachOfThePromises) {
    for (int number = 1; number <= 15; ++number) {
        const std::string promise = "A" + std::to_string(number);
        const auto breaks = [&](const mutant_description& m) {
            return (", " + std::string(killers_of(m.which)) + ",").find(", " + promise + ",") !=
                   std::string::npos;
        };
        EXPECT_TRUE(std::any_of(all_mutants.begin(), all_mutants.end(), breaks)) << promise;
    }
}

}  // namespace
}  // namespace latchkey::simulation
