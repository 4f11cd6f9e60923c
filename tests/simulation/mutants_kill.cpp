#include "mutants_kill.hpp"

#include "simulation.hpp"

namespace latchkey::simulation {
namespace {

verdict simulate_as(mutant m, const options& how) {
    present_mutant = m;
    verdict v = simulate(how);
    present_mutant = mutant::none;
    return v;
}

/// Any, if the list does not say.
bool is_among(const std::string& invariant, std::string_view killers) {
    return killers.empty() ||
           (", " + std::string(killers) + ",").find(", " + invariant + ",") != std::string::npos;
}

}  // namespace

std::string_view killers_of(mutant which) {
    switch (which) {
#define LATCHKEY_KILLERS(id, invariants) \
    case mutant::id:                     \
        return invariants;
#include "killers.inc"
#undef LATCHKEY_KILLERS
        case mutant::none:
            break;
    }
    return {};
}

std::optional<killing> kill(const mutant_description& m, std::uint64_t first, int most) {
    mutant_was_reached = false;
    for (int i = 0; i < most; ++i) {
        const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
        const options how{.seed = seed, .recipe = m.recipe, .where = m.where};
        const verdict v = simulate_as(m.which, how);
        if (!v.violations.empty() &&
            is_among(v.violations.front().invariant, killers_of(m.which)) &&
            simulate_as(mutant::none, how).violations.empty()) {
            const violation& cause = v.violations.front();
            return killing{cause.invariant, cause.text, seed, i + 1};
        }
    }
    return std::nullopt;
}

}  // namespace latchkey::simulation
