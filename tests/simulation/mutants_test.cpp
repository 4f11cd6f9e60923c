#include "mutants.hpp"

#include "mutants_check.hpp"
#include "mutants_run.hpp"
#include "seeds.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::simulation {
namespace {

class Mutant : public ::testing::TestWithParam<mutant_description> {};

TEST_P(Mutant, IsKilled) {
    expect_killed(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Mutant, ::testing::ValuesIn(all_mutants), [](const auto& i) {
    return std::string(i.param.id);
});

TEST(Mutants, ThereAreSomeOfEveryRecipe) {
    std::map<recipe_kind, int> of;
    for (const mutant_description& m : all_mutants) {
        ++of[runs_of(m.which).recipe];
    }
    for (auto kind = recipe_kind::mutex; kind <= recipe_kind::group;
         kind = static_cast<recipe_kind>(static_cast<int>(kind) + 1)) {
        EXPECT_GE(of[kind], 2) << to_string(kind);
    }
}

TEST(Mutants, SayWhichInvariantsTheyBreak) {
    expect_killers_named();
}

TEST(Mutants, BreakNothingWhileTheyAreSwitchedOff) {
    // Where one is killed, kill() has run the original with the same seed.
    std::vector<corner> all(every_corner.begin(), every_corner.end());
    all.push_back(corner::everywhere);
    for (const corner where : all) {
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            const verdict v = simulate({.seed = seed, .where = where});
            ASSERT_TRUE(v.violations.empty())
                << to_string(where) << ", seed " << seed << ": " << v.violations.front().invariant
                << ": " << v.violations.front().text;
        }
    }
}

}  // namespace
}  // namespace latchkey::simulation
