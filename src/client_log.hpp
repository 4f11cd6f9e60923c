#pragma once

#include <string_view>

namespace latchkey {

/// Whether LATCHKEY_CLIENT_LOG asks for the C client's log on stderr. Looked at once.
[[nodiscard]] bool client_log_wanted() noexcept;

/// The server in a line of the C client's log that tells of a failed connection
/// ("...Socket 127.0.0.1:2181 zk retcode=-4, ..."); empty for any other line.
[[nodiscard]] std::string_view server_in_client_log(std::string_view line) noexcept;

}  // namespace latchkey
