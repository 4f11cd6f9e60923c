#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace latchkey::inline v0 {

/// One decoded character. `length` is 0 at the end of the text. `valid` is false for a byte that is
/// not UTF-8.
struct code_point {
    char32_t value = 0;
    std::size_t length = 0;
    bool valid = false;
};

/// Decodes the character at the start of `text`. Strict: no overlong forms, no surrogates, at most
/// U+10FFFF.
[[nodiscard]] inline code_point decode_utf8(std::string_view text) noexcept {
    if (text.empty()) {
        return {};
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) {
        return {first, 1, true};
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (length == 0 || first > 0xF4 || text.size() < length) {
        return {first, 1, false};
    }
    char32_t value = first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) {
            return {first, 1, false};
        }
        value = (value << 6U) | (byte(i) & 0x3FU);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (overlong || surrogate || value > 0x10FFFF) {
        return {first, 1, false};
    }
    return {value, length, true};
}

/// Whether all of the text is UTF-8.
[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const code_point next = decode_utf8(text);
        if (!next.valid) {
            return false;
        }
        text.remove_prefix(next.length);
    }
    return true;
}

}  // namespace latchkey::inline v0
