#pragma once

#include <latchkey/export.hpp>

#include <cstdint>
#include <string_view>

namespace latchkey::inline v0 {

/// How important a line of the log is.
enum class log_level : std::uint8_t {
    debug,
    info,
    warning,  ///< the client continues and tries again
    error,    ///< something stays wrong until an operator acts
};

/// "debug", "info", "warning", "error".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(log_level l) noexcept;

/// One line for people: see client_options::log. The views are valid during the call only.
struct log_record {
    log_level level = log_level::warning;
    /// Names the kind of line, to filter by: "unreachable", "cannot-delete", "callback-threw",
    /// "slow-callback", "selector", "candidate-refused", "leader-data", "transfer",
    /// "not-ephemeral", "cannot-write", "hold-broken", "session-timeout", "malformed-reply",
    /// "open-directory", "unexpected-answer".
    std::string_view id;
    std::string_view text;     ///< a sentence; everything that others wrote is escaped in it
    std::string_view client;   ///< client_options::name
    std::int64_t session = 0;  ///< the client's session; 0 if it has none
    std::string_view path;     ///< the znode that it is about; empty if there is none
};

}  // namespace latchkey::inline v0
