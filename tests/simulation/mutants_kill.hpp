#pragma once

#include "mutants.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::simulation {

/// What a run broke first.
struct breach {
    std::string invariant;
    std::string text;
};

/// One run of the copy as it is now, as the list says for `m`. Each simulation has its own. `tale`:
/// where to tell all that happens, if anywhere.
[[nodiscard]] std::optional<breach> run_once(const mutant_description& m,
                                             std::uint64_t seed,
                                             std::ostream* tale);

/// How a mutant was found out.
struct killing {
    breach cause;
    std::uint64_t seed = 0;
    int seeds = 0;  ///< it took
};

/// The invariants that a mutant breaks, as its list says: "I1, I2".
[[nodiscard]] std::string_view killers_of(mutant which);

/// Runs a mutant with one seed after the other until one of its invariants is broken, which the
/// original keeps with the same seed; nothing if it survives `most` of them.
[[nodiscard]] std::optional<killing> kill(const mutant_description& m,
                                          std::uint64_t first,
                                          int most);

}  // namespace latchkey::simulation
