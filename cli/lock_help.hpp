#pragma once

#include <string>

namespace latchkey::cli {

[[nodiscard]] std::string version_line();

/// For `latchkey --help`.
[[nodiscard]] std::string program_help();

/// For `latchkey lock --help`.
[[nodiscard]] std::string lock_help();

}  // namespace latchkey::cli
