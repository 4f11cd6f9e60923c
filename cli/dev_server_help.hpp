#pragma once

#include <string>

namespace latchkey::cli {

/// For `latchkey dev-server --help`.
[[nodiscard]] std::string dev_server_help();

}  // namespace latchkey::cli
