#include "mutants.hpp"

#include <cstdlib>

namespace latchkey::simulation {
namespace {

/// The environment says which mutant this process is.
[[maybe_unused]] const bool chosen = [] {
    const char* const name = std::getenv("LATCHKEY_MUTANT");
    for (const mutant_description& m : all_mutants) {
        if (name != nullptr && m.name == name) {
            present_mutant = m.which;
        }
    }
    return true;
}();

}  // namespace
}  // namespace latchkey::simulation
