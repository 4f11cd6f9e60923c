#include "mutants_kill.hpp"
#include "simulation.hpp"

namespace latchkey::simulation {

std::optional<breach> run_once(const mutant_description&, std::uint64_t seed, std::ostream* tale) {
    const test::adapter_run run = test::simulate_adapter(seed, tale);
    if (run.violations.empty()) {
        return std::nullopt;
    }
    return breach{run.violations.front().promise, run.violations.front().text};
}

}  // namespace latchkey::simulation
