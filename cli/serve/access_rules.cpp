#include "serve/access_rules.hpp"

#include "exit_status.hpp"
#include "option_parser.hpp"
#include "secret_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>

namespace latchkey::cli {

namespace {

constexpr std::size_t least_token = 16;

bool is_equal_without_case(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
               std::tolower(static_cast<unsigned char>(b));
    });
}

/// Four numbers, the first of which is 127.
bool is_loopback_address(std::string_view text) {
    for (int part = 0; part < 4; ++part) {
        const auto dot = std::min(text.find('.'), text.size());
        const auto number = number_in<int>(text.substr(0, dot), 0, 255);
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
        if (!number_in<int>(host.substr(colon + 1), 0, 65535)) {
            return false;
        }
        name = host.substr(0, colon);
    }
    return is_equal_without_case(name, "localhost") || name == "[::1]" || is_loopback_address(name);
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) noexcept {
    // As many steps as the given text has bytes, whatever the secret is.
    std::uint8_t difference = given.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const char other = secret.empty() ? '\0' : secret[i % secret.size()];
        difference = static_cast<std::uint8_t>(
            difference | (static_cast<std::uint8_t>(given[i]) ^ static_cast<std::uint8_t>(other)));
    }
    return difference == 0;
}

std::string read_token(const std::string& file) {
    secret_text secret;
    secret.read("--token-file", file, "one line");
    std::string_view token = secret.text();
    while (token.ends_with('\n') || token.ends_with('\r')) {
        token.remove_suffix(1);
    }
    const bool visible =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!visible || token.size() < least_token) {
        throw usage_error(
            "--token-file: holds no token, which is one line of at least 16 visible ASCII "
            "characters; make one with: openssl rand -hex 32");
    }
    return std::string(token);
}

std::optional<http_answer> access_rules::refuse_host(const http_request& r) const {
    if (check_host_ && !is_loopback_host(r.host)) {
        return http_answer::error(421,
                                  "the header Host does not name this machine; ask for "
                                  "localhost, 127.0.0.1 or [::1]");
    }
    return std::nullopt;
}

std::optional<http_answer> access_rules::refuse_stranger(const http_request& r) const {
    constexpr std::string_view scheme = "bearer ";
    const std::string_view given = r.authorization;
    const bool has_scheme = is_equal_without_case(given.substr(0, scheme.size()), scheme);
    if (token_.empty() ||
        (has_scheme && equal_in_constant_time(given.substr(scheme.size()), token_))) {
        return std::nullopt;
    }
    auto refusal = http_answer::error(401, "give the token: Authorization: Bearer TOKEN");
    refusal.header_name = "WWW-Authenticate";
    refusal.header_value = "Bearer realm=\"latchkey\"";
    return refusal;
}

}  // namespace latchkey::cli
