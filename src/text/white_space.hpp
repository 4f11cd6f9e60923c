#pragma once

#include <string_view>

namespace latchkey::inline v0 {

inline constexpr std::string_view white_space = " \t\n\v\f\r";

/// Without white space at both ends: files and folded lines, from which settings come, end with
/// line feeds, and some with carriage returns.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(white_space);
    return first == std::string_view::npos
               ? std::string_view()
               : text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

}  // namespace latchkey::inline v0
