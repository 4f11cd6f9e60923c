#pragma once

#include <string>

namespace latchkey::cli {

/// For `latchkey elect --help`.
[[nodiscard]] std::string elect_help();

}  // namespace latchkey::cli
