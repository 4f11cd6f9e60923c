#pragma once

#include <latchkey/export.hpp>

#include "session/session.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// The servers to connect to, and the path below which everything of the client is.
struct connect_target {
    std::vector<session_options::endpoint> servers;
    std::string chroot;  ///< empty, or "/a/b"

    bool operator==(const connect_target&) const = default;
};

/// Reads "host:port,[v6]:port,...[/chroot]". The default port is 2181. Throws
/// errc::invalid_argument; the message names the part at fault and the remedy.
[[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING connect_target
parse_connect_string(std::string_view text);

}  // namespace latchkey::inline v0
