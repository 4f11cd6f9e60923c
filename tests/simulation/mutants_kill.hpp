#pragma once

#include "mutants.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace latchkey::simulation {

/// How a mutant was found out.
struct killing {
    std::string invariant;
    std::string text;
    std::uint64_t seed = 0;
    int seeds = 0;  ///< it took
};

/// Runs a mutant with one seed after the other until the simulation notices what the original does
/// not do with the same seed; nothing if it survives `most` of them.
[[nodiscard]] std::optional<killing> kill(const mutant_description& m,
                                          std::uint64_t first,
                                          int most);

}  // namespace latchkey::simulation
