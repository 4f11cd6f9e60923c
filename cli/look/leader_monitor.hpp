#pragma once

#include "options/elect_options.hpp"
#include "output/status_output.hpp"

namespace latchkey::cli {

/// `latchkey elect -l`: prints the leader whenever it changes, until a signal arrives. Returns the
/// exit status. Throws usage_error and latchkey::error.
[[nodiscard]] int follow_leader(const elect_options& options, const status_output& output);

}  // namespace latchkey::cli
