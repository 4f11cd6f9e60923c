#include "mutants.hpp"

#include "simulation.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace latchkey::simulation {

void PrintTo(const mutant_description& m, std::ostream* out) {
    *out << m.name;
}

namespace {

/// Makes the copy that this program is linked with another one, for a scope.
class made_wrong {
public:
    explicit made_wrong(mutant m) {
        present_mutant = m;
        mutant_was_reached = false;
    }

    made_wrong(const made_wrong&) = delete;
    made_wrong& operator=(const made_wrong&) = delete;

    ~made_wrong() { present_mutant = mutant::none; }
};

class Mutant : public ::testing::TestWithParam<mutant_description> {};

TEST_P(Mutant, IsKilled) {
    const made_wrong wrong(GetParam().which);
    for (int seed = 1; seed <= GetParam().seeds; ++seed) {
        const verdict v = simulate({.seed = static_cast<std::uint64_t>(seed)});
        if (!v.violations.empty()) {
            std::cout << GetParam().name << ": killed by " << v.violations.front().invariant
                      << " at seed " << seed << ": " << v.violations.front().text << '\n';
            EXPECT_TRUE(mutant_was_reached);
            return;
        }
    }
    ADD_FAILURE() << "survives " << GetParam().seeds << " seeds"
                  << (mutant_was_reached ? "" : ", which never come to what it changes") << ": "
                  << GetParam().harm;
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
