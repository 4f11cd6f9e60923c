#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v0 {

/// C0, DEL and C1.
[[nodiscard]] bool is_control(char32_t c) noexcept;

/// Characters that change how the rest of a line reads, or that are invisible or blank: two texts
/// can look alike that differ in them. Not the space, and not the joiners U+200C and U+200D, which
/// living scripts need.
[[nodiscard]] bool is_deceptive(char32_t c) noexcept;

/// Those of them that no path may have. Blanks and variants of letters are left to paths: other
/// programs have them, and messages show them.
[[nodiscard]] bool is_misleading(char32_t c) noexcept;

[[nodiscard]] bool is_noncharacter(char32_t c) noexcept;

/// `text` in one line, without anything that a terminal would act on. Control characters, invisible
/// and blank characters, those that change the direction of writing, and bytes that are not UTF-8
/// become \n, \x1b or \u{202e}; a backslash becomes \\. For all messages, because other programs
/// write the names and data of znodes.
[[nodiscard]] std::string escaped(std::string_view text);

/// As escaped(), for a message that quotes escaped values: a backslash stays as it is.
[[nodiscard]] std::string escaped_message(std::string_view text);

}  // namespace latchkey::inline v0
