#pragma once

#include <string>
#include <vector>

namespace latchkey::cli {

/// `latchkey resign`, from its arguments to its exit status.
[[nodiscard]] int resign_command(const std::vector<std::string>& arguments);

}  // namespace latchkey::cli
