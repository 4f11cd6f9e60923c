#include "printable.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

struct character {
    char32_t code = 0;
    std::size_t length = 0;  // in bytes; 0: not UTF-8
};

std::size_t sequence_length(unsigned char first) {
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        return 3;
    }
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

character decode(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = sequence_length(first);
    if (length == 0 || length > text.size()) {
        return {};
    }
    char32_t code = length == 1 ? first : first & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80) {
            return {};
        }
        code = (code << 6) | (next & 0x3FU);
    }
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return too_long || surrogate || code > 0x10FFFF ? character{} : character{code, length};
}

bool acts_on_terminals(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c <= 0x9F)          // C0, DEL, C1
           || c == 0x061C || c == 0x200E || c == 0x200F  // marks of direction
           || (c >= 0x2028 && c <= 0x202E)               // separators, embeddings, overrides
           || (c >= 0x2066 && c <= 0x2069)               // isolates
           || c == 0xFEFF;
}

std::string escaped(char32_t c) {
    switch (c) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            break;
    }
    const auto number = static_cast<std::uint32_t>(c);
    return c < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{{{:x}}}", number);
}

std::string escape(std::string_view text, std::string_view backslash) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const character c = decode(text);
        if (c.length == 0) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
            text.remove_prefix(1);
            continue;
        }
        if (c.code == '\\') {
            out += backslash;
        } else if (acts_on_terminals(c.code)) {
            out += escaped(c.code);
        } else {
            out += text.substr(0, c.length);
        }
        text.remove_prefix(c.length);
    }
    return out;
}

}  // namespace

std::string printable(std::string_view text) {
    return escape(text, "\\\\");
}

std::string printable_message(std::string_view text) {
    return escape(text, "\\");
}

}  // namespace latchkey::cli
