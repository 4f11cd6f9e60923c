#pragma once

#include <string>
#include <string_view>

namespace latchkey::cli {

/// Compares without telling by its time where the texts differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept;

/// Reads the file of --token-file, as the option --auth-file does. Throws usage_error.
[[nodiscard]] std::string read_token(const std::string& file);

}  // namespace latchkey::cli
