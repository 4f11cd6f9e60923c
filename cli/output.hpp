#pragma once

#include <string_view>

namespace latchkey::cli {

/// At once and whole; false with errno set if it cannot be written.
[[nodiscard]] bool write_to_stdout(std::string_view text);

}  // namespace latchkey::cli
