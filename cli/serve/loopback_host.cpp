#include "serve/loopback_host.hpp"

#include "options/number_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace latchkey::cli {

namespace {

bool is_localhost(std::string_view name) {
    constexpr std::string_view known = "localhost";
    return std::equal(name.begin(), name.end(), known.begin(), known.end(), [](char a, char b) {
        return (a | 0x20) == b;
    });
}

std::optional<unsigned> short_number(std::string_view text, std::size_t digits, unsigned most) {
    return text.size() <= digits ? number_in<unsigned>(text, 0, most) : std::nullopt;
}

/// Four numbers, the first of which is 127.
bool is_loopback_address(std::string_view text) {
    for (int part = 0; part < 4; ++part) {
        const auto dot = std::min(text.find('.'), text.size());
        const auto number = short_number(text.substr(0, dot), 3, 255);
        if (!number || (part == 0 && *number != 127) || (part < 3) == (dot == text.size())) {
            return false;
        }
        text.remove_prefix(std::min(dot + 1, text.size()));
    }
    return true;
}

}  // namespace

bool is_loopback_host(std::string_view host) {
    std::string_view name = host;
    if (const auto colon = host.rfind(':');
        colon != std::string_view::npos && !host.ends_with(']')) {
        if (!short_number(host.substr(colon + 1), 5, 65535)) {
            return false;
        }
        name = host.substr(0, colon);
    }
    return is_localhost(name) || name == "[::1]" || is_loopback_address(name);
}

}  // namespace latchkey::cli
