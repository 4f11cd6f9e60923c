#pragma once

#include <string>
#include <string_view>

namespace latchkey::cli {

/// `text` without anything that a terminal would act on: control characters, bidirectional
/// overrides, line separators and bytes that are not UTF-8 come out as \n, \x1b, \u{202e}; a
/// backslash as \\. The names and data of znodes are written by others.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for a message that quotes escaped values already: a backslash stays as it is.
[[nodiscard]] std::string printable_message(std::string_view text);

}  // namespace latchkey::cli
