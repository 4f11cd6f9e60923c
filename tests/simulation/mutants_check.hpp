#pragma once

#include "mutants.hpp"

#include <iosfwd>

namespace latchkey::simulation {

void PrintTo(const mutant_description& m, std::ostream* out);

/// Fails the present test unless the mutant is killed within the seeds that its list states.
void expect_killed(const mutant_description& m);

/// Fails unless each mutant of the lists names what it breaks: one that breaks a safety property
/// must not pass for killed because it asks too often.
void expect_killers_named();

}  // namespace latchkey::simulation
