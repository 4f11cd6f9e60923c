#pragma once

#include <cstdint>
#include <string>

namespace latchkey::cli {

/// Where a server listens.
struct listen_address {
    std::string host;  ///< without brackets
    std::uint16_t port = 0;

    /// From "HOST:PORT", with an IPv6 address in brackets. Throws usage_error, which names --listen
    /// and gives `example`.
    [[nodiscard]] static listen_address from(const std::string& text, const char* example);
};

}  // namespace latchkey::cli
