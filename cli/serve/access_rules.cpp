#include "serve/access_rules.hpp"

#include "serve/loopback_host.hpp"
#include "serve/token.hpp"

#include <algorithm>
#include <string_view>

namespace latchkey::cli {

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
    const std::string_view start = given.substr(0, scheme.size());
    const bool has_scheme =
        std::equal(start.begin(), start.end(), scheme.begin(), scheme.end(), [](char a, char b) {
            return (a | 0x20) == b;
        });
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
