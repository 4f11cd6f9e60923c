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

}  // namespace

std::optional<killing> kill(const mutant_description& m, std::uint64_t first, int most) {
    mutant_was_reached = false;
    for (int i = 0; i < most; ++i) {
        const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
        const options how{.seed = seed, .recipe = m.recipe, .where = m.where};
        const verdict v = simulate_as(m.which, how);
        if (!v.violations.empty() && simulate_as(mutant::none, how).violations.empty()) {
            const violation& cause = v.violations.front();
            return killing{cause.invariant, cause.text, seed, i + 1};
        }
    }
    return std::nullopt;
}

}  // namespace latchkey::simulation
