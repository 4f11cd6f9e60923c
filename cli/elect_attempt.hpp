#pragma once

#include "elect_options.hpp"
#include "run_kind.hpp"

namespace latchkey::cli {

/// To run a command while leading. `options` outlives it.
[[nodiscard]] run_kind to_lead(const elect_options& options);

}  // namespace latchkey::cli
