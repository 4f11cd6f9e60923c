#pragma once

#include "mutants.hpp"
#include "simulation.hpp"

namespace latchkey::simulation {

/// The runs in which a mutant is looked for, as its list says; without a seed.
[[nodiscard]] options runs_of(mutant which);

}  // namespace latchkey::simulation
