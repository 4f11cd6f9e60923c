#include "serve/token.hpp"

#include "options/secret_text.hpp"
#include "output/exit_status.hpp"
#include "text/white_space.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace latchkey::cli {

namespace {

constexpr std::size_t least_token = 16;

}  // namespace

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
    const std::string_view token = trimmed(secret.text());
    const bool visible =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
    if (!visible || token.size() < least_token) {
        throw usage_error(
            "--token-file: holds no token, which is one line of at least 16 visible ASCII "
            "characters; make one with: openssl rand -hex 32");
    }
    return std::string(token);
}

}  // namespace latchkey::cli
