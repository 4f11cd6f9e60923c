#include "mutants_run.hpp"

#include "mutants_kill.hpp"

namespace latchkey::simulation {

options runs_of(mutant which) {
    switch (which) {
#define LATCHKEY_MUTANT(id, name, seeds, first, kind, corner_of_it, files, harm) \
    case mutant::id:                                                             \
        return {.recipe = recipe_kind::kind, .where = corner::corner_of_it};
#include "mutants.inc"
#undef LATCHKEY_MUTANT
        case mutant::none:
            break;
    }
    return {};
}

std::optional<breach> run_once(const mutant_description& m,
                               std::uint64_t seed,
                               std::ostream* tale) {
    options how = runs_of(m.which);
    how.seed = seed;
    how.tale = tale;
    const verdict v = simulate(how);
    if (v.violations.empty()) {
        return std::nullopt;
    }
    return breach{v.violations.front().invariant, v.violations.front().text};
}

}  // namespace latchkey::simulation
