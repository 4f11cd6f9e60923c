#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace latchkey::simulation {

/// What can be made wrong in the mutated copy of a program's sources: its lists.
enum class mutant : unsigned {
    none,
#define LATCHKEY_MUTANT(id, name, seeds, first, recipe, where, files, harm) id,
#include "mutants.inc"
#undef LATCHKEY_MUTANT
};

struct mutant_description {
    mutant which;
    std::string_view id;  ///< as an identifier
    std::string_view name;
    int seeds;               ///< it is killed within
    std::uint64_t first;     ///< of them
    std::string_view files;  ///< that it changes
    std::string_view harm;   ///< what is wrong, and what that may lead to
};

inline constexpr auto all_mutants = std::to_array<mutant_description>({
#define LATCHKEY_MUTANT(id, name, seeds, first, recipe, where, files, harm) \
    {mutant::id, #id, name, seeds, first, files, harm},
#include "mutants.inc"
#undef LATCHKEY_MUTANT
});

/// Which of them the copy is now; set between two runs, by the thread that runs them.
inline mutant present_mutant = mutant::none;
/// Whether it was asked for since: one that never is changes nothing.
inline bool mutant_was_reached = false;

/// Asked wherever the copy can be another than the original.
constexpr bool mutated(mutant m) noexcept {
    if (std::is_constant_evaluated() || present_mutant != m) {
        return false;
    }
    mutant_was_reached = true;
    return true;
}

}  // namespace latchkey::simulation
