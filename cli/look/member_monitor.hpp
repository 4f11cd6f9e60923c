#pragma once

#include "options/members_options.hpp"
#include "output/status_output.hpp"

namespace latchkey::cli {

/// `latchkey members --follow`: prints the members, then each change, until a signal arrives.
/// Returns the exit status. Throws usage_error and latchkey::error.
[[nodiscard]] int follow_members(const members_options& options, const status_output& output);

}  // namespace latchkey::cli
