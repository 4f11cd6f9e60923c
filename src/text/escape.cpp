#include "text/escape.hpp"

#include "text/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace latchkey::inline v0 {

bool is_control(char32_t c) noexcept {
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

bool is_noncharacter(char32_t c) noexcept {
    return (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFEU) == 0xFFFE;
}

namespace {

struct range {
    char32_t first;
    char32_t last;
};

/// What no path may have: what changes the order of writing, or has no width.
constexpr std::array misleading{range{0x061C, 0x061C},
                                range{0x200B, 0x200B},
                                range{0x200E, 0x200F},
                                range{0x2028, 0x202E},
                                range{0x2060, 0x206F},
                                range{0xFEFF, 0xFEFF},
                                range{0xFFF9, 0xFFFB},
                                range{0xE0000, 0xE007F}};

/// Default_Ignorable_Code_Point and Space_Separator of Unicode, and letters and signs that are
/// blank, except the space and the joiners. cli/web/dom.js has the same.
constexpr std::array unseen{
    range{0x00A0, 0x00A0},   range{0x00AD, 0x00AD},   range{0x034F, 0x034F},
    range{0x061C, 0x061C},   range{0x115F, 0x1160},   range{0x1680, 0x1680},
    range{0x17B4, 0x17B5},   range{0x180B, 0x180F},   range{0x2000, 0x200B},
    range{0x200E, 0x200F},   range{0x2028, 0x202F},   range{0x205F, 0x206F},
    range{0x2800, 0x2800},   range{0x3000, 0x3000},   range{0x3164, 0x3164},
    range{0xFE00, 0xFE0F},   range{0xFEFF, 0xFEFF},   range{0xFFA0, 0xFFA0},
    range{0xFFF0, 0xFFFC},   range{0x13430, 0x1343F}, range{0x13441, 0x13442},
    range{0x16FE4, 0x16FE4}, range{0x1BCA0, 0x1BCA3}, range{0x1D159, 0x1D159},
    range{0x1D173, 0x1D17A}, range{0xE0000, 0xE0FFF}};

bool is_in(char32_t c, const auto& ranges) {
    return std::any_of(
        ranges.begin(), ranges.end(), [c](const range& r) { return c >= r.first && c <= r.last; });
}

}  // namespace

bool is_misleading(char32_t c) noexcept {
    return is_in(c, misleading);
}

bool is_deceptive(char32_t c) noexcept {
    return is_in(c, unseen);
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
