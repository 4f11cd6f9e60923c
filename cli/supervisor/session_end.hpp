#pragma once

#include "session/session.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::cli {

/// A session, and the servers through which it can be ended.
struct session_to_end {
    session_claim claim;  ///< without an id: none
    /// Tried after the one of the claim: "host:port" each, IPv6 without brackets.
    std::vector<std::string> servers;

    bool operator==(const session_to_end&) const = default;
};

/// A session_to_end as bytes, for another process of this program.
[[nodiscard]] std::string packed(const session_to_end& s);
[[nodiscard]] session_to_end unpacked(std::string_view bytes);

/// Ends a session of a process that is dead: connects to a server over TCP, presents id and
/// password, and closes the session, whose ephemeral znodes the servers then delete. Blocks until a
/// server has confirmed it, at most for the session timeout: by then the servers have ended the
/// session anyway. A live client of the session would take it back: use it only when there is none.
/// Returns whether a server has confirmed the end, or knows no such session.
bool end_session(const session_to_end& s);

}  // namespace latchkey::cli
