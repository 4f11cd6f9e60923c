#pragma once

#include <string>
#include <vector>

namespace latchkey::cli {

/// `latchkey elect`, from its arguments to its exit status. To be called before the process has any
/// thread.
[[nodiscard]] int elect_command(const std::vector<std::string>& arguments);

}  // namespace latchkey::cli
