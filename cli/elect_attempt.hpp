#pragma once

#include "elect_options.hpp"
#include "undertaking.hpp"

namespace latchkey::cli {

/// To run a command while leading. `options` outlives it.
[[nodiscard]] undertaking to_lead(const elect_options& options);

}  // namespace latchkey::cli
