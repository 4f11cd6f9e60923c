#include "input.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"
#include "text/utf8.hpp"

#include <algorithm>

// Text of others, on its way to a terminal or a log.

namespace {

using namespace latchkey;
using fuzz::require;

void check_harmless(std::string_view shown) {
    while (!shown.empty()) {
        const code_point c = decode_utf8(shown);
        require(c.valid, "what is shown is UTF-8");
        require(c.value >= 0x20 && (c.value < 0x7F || c.value >= 0xA0), "no control characters");
        require(
            !(c.value >= 0x2028 && c.value <= 0x202E) && !(c.value >= 0x2066 && c.value <= 0x2069),
            "the direction of writing stays");
        shown.remove_prefix(c.length);
    }
}

void check_decoding(std::string_view text) {
    std::size_t decoded = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const code_point c = decode_utf8(rest);
        require(c.length >= 1 && c.length <= 4 && c.length <= rest.size(), "decoding goes forward");
        require(c.valid || c.length == 1, "one bad byte is one bad byte");
        require(!c.valid || c.value <= 0x10FFFF, "no character beyond the last one");
        decoded += c.length;
        rest.remove_prefix(c.length);
    }
    require(decoded == text.size(), "all bytes are decoded");
}

}  // namespace

void fuzz::check_input(std::string_view text) {
    check_decoding(text);
    const std::string shown = escaped(text);
    check_harmless(shown);
    check_harmless(escaped_message(text));
    require(escaped_message(shown) == shown, "nothing is escaped twice");
    const bool plain =
        std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; });
    require(!plain || shown == text, "plain text stays as it is");
}
