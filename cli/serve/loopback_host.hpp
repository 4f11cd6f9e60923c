#pragma once

#include <string_view>

namespace latchkey::cli {

/// Whether the header Host names this machine: localhost, 127.*, or [::1], with any port.
[[nodiscard]] bool is_loopback_host(std::string_view host);

}  // namespace latchkey::cli
