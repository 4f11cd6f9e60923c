#pragma once

#include <string>

namespace latchkey::cli {

/// For `latchkey resign --help`.
[[nodiscard]] std::string resign_help();

}  // namespace latchkey::cli
