#include "text/escape.hpp"

#include "text/utf8.hpp"

#include <array>
#include <cstdio>

namespace latchkey::inline v0 {

bool is_control(char32_t c) noexcept {
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

bool is_noncharacter(char32_t c) noexcept {
    return (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFEU) == 0xFFFE;
}

bool is_deceptive(char32_t c) noexcept {
    return c == 0x061C || c == 0x200B || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
           (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

namespace {

std::string hex(const char* format, char32_t value) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(value));
    return text.data();
}

std::string escape_of(const code_point& c) {
    switch (c.valid ? c.value : 0) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return c.valid && c.length > 1 ? hex("\\u{%x}", c.value) : hex("\\x%02x", c.value);
    }
}

std::string escape(std::string_view text, std::string_view backslash) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const code_point c = decode_utf8(text);
        if (!c.valid || is_control(c.value) || is_deceptive(c.value) || is_noncharacter(c.value)) {
            out += escape_of(c);
        } else if (c.value == '\\') {
            out += backslash;
        } else {
            out += text.substr(0, c.length);
        }
        text.remove_prefix(c.length);
    }
    return out;
}

}  // namespace

std::string escaped(std::string_view text) {
    return escape(text, "\\\\");
}

std::string escaped_message(std::string_view text) {
    return escape(text, "\\");
}

}  // namespace latchkey::inline v0
