#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace latchkey::cli {

/// The headers of every answer. The page gets scripts, styles and data from this server alone, and
/// no text becomes markup. No other site may show it, and nothing of it is kept.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 5> headers_of_all{{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
     "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for "
     "'script'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
}};

}  // namespace latchkey::cli
