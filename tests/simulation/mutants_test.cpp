#include "mutants.hpp"

#include "mutants_kill.hpp"
#include "simulation.hpp"

#include <iostream>
#include <map>
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
    const auto killed = kill(m, 1, m.seeds);
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

TEST(Mutants, ThereAreSomeOfEveryRecipe) {
    std::map<recipe_kind, int> of;
    for (const mutant_description& m : all_mutants) {
        ++of[m.recipe];
    }
    for (auto kind = recipe_kind::mutex; kind <= recipe_kind::group;
         kind = static_cast<recipe_kind>(static_cast<int>(kind) + 1)) {
        EXPECT_GE(of[kind], 2) << to_string(kind);
    }
}

// A mutant that breaks a safety property must not pass for killed because it asks too often.
TEST(Mutants, SayWhichInvariantsTheyBreak) {
    for (const mutant_description& m : all_mutants) {
        EXPECT_FALSE(killers_of(m.which).empty()) << m.name;
    }
}

TEST(Mutants, BreakNothingWhileTheyAreSwitchedOff) {
    // Where one is killed, kill() has run the original with the same seed.
    for (const corner where : {corner::everywhere,
                               corner::cut_off,
                               corner::woken_up,
                               corner::taken_away,
                               corner::crowded,
                               corner::unresolved}) {
        for (std::uint64_t seed = 1; seed <= 300; ++seed) {
            const verdict v = simulate({.seed = seed, .where = where});
            ASSERT_TRUE(v.violations.empty())
                << to_string(where) << ", seed " << seed << ": " << v.violations.front().invariant
                << ": " << v.violations.front().text;
        }
    }
}

}  // namespace
}  // namespace latchkey::simulation
