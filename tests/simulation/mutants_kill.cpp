#include "mutants_kill.hpp"

namespace latchkey::simulation {
namespace {

std::optional<breach> run_as(mutant which, const mutant_description& m, std::uint64_t seed) {
    present_mutant = which;
    auto broken = run_once(m, seed, nullptr);
    present_mutant = mutant::none;
    return broken;
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
        const auto broken = run_as(m.which, m, seed);
        if (broken && is_among(broken->invariant, killers_of(m.which)) &&
            !run_as(mutant::none, m, seed)) {
            return killing{*broken, seed, i + 1};
        }
    }
    return std::nullopt;
}

}  // namespace latchkey::simulation
