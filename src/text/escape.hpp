#pragma once

#include <string>
#include <string_view>

namespace latchkey {

/// C0, DEL and C1.
[[nodiscard]] bool is_control(char32_t c) noexcept;

/// Characters that change how the rest of a line reads, or cannot be seen. Not the joiners U+200C
/// and U+200D, which living scripts are spelled with.
[[nodiscard]] bool is_deceptive(char32_t c) noexcept;

[[nodiscard]] bool is_noncharacter(char32_t c) noexcept;

/// `text` in one line, without anything that a terminal would act on: control characters, invisible
/// ones, those that turn the direction of writing, and bytes that are not UTF-8 come out as \n,
/// \x1b or \u{202e}, and a backslash as \\. For all messages: other programs write the names and
/// data of znodes.
[[nodiscard]] std::string escaped(std::string_view text);

/// The same for a message that quotes escaped values already: a backslash stays as it is.
[[nodiscard]] std::string escaped_message(std::string_view text);

}  // namespace latchkey
