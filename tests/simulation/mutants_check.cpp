#include "mutants_check.hpp"

#include "mutants_kill.hpp"

#include <iostream>
#include <ostream>

#include <gtest/gtest.h>

namespace latchkey::simulation {

void PrintTo(const mutant_description& m, std::ostream* out) {
    *out << m.name;
}

void expect_killed(const mutant_description& m) {
    const auto killed = kill(m, m.first, m.seeds);
    ASSERT_TRUE(killed) << "survives " << m.seeds << " seeds from " << m.first
                        << (mutant_was_reached ? "" : ", which never come to what it changes")
                        << ": " << m.harm;
    EXPECT_TRUE(mutant_was_reached);
    std::cout << m.name << ": killed by " << killed->cause.invariant << " at seed " << killed->seed
              << ": " << killed->cause.text << '\n';
}

void expect_killers_named() {
    for (const mutant_description& m : all_mutants) {
        EXPECT_FALSE(killers_of(m.which).empty()) << m.name;
    }
}

}  // namespace latchkey::simulation
