#include "mutants.hpp"

#include "mutants_kill.hpp"
#include "simulation.hpp"

#include <algorithm>
#include <iostream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {

void PrintTo(const mutant_description& m, std::ostream* out) {
    *out << m.name;
}

namespace {

class Mutant : public ::testing::TestWithParam<mutant_description> {};

TEST_P(Mutant, IsKilled) {
    const mutant_description& m = GetParam();
    const auto killed = kill(m.which, 1, m.seeds);
    ASSERT_TRUE(killed) << "survives " << m.seeds << " seeds"
                        << (mutant_was_reached ? "" : ", which never come to what it changes")
                        << ": " << m.harm;
    EXPECT_TRUE(mutant_was_reached);
    std::cout << m.name << ": killed by " << killed->invariant << " at seed " << killed->seed
              << ": " << killed->text << '\n';
}

INSTANTIATE_TEST_SUITE_P(All, Mutant, ::testing::ValuesIn(all_mutants), [](const auto& i) {
    return std::string(i.param.id);
});

TEST(Mutants, AreAtLeastTwoDozen) {
    EXPECT_GE(all_mutants.size(), 24U);
}

TEST(Mutants, BreakNothingWhileTheyAreSwitchedOff) {
    const int most =
        std::max_element(all_mutants.begin(), all_mutants.end(), [](const auto& a, const auto& b) {
            return a.seeds < b.seeds;
        })->seeds;
    for (int seed = 1; seed <= most; ++seed) {
        const verdict v = simulate({.seed = static_cast<std::uint64_t>(seed)});
        ASSERT_TRUE(v.violations.empty())
            << "seed " << seed << ": " << v.violations.front().invariant << ": "
            << v.violations.front().text;
    }
}

}  // namespace
}  // namespace latchkey::simulation
