#pragma once

#include <latchkey/tls.hpp>

#include "session/session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// What the guardian of a process is told: the present session of one of its clients.
struct guarded_session {
    std::uint64_t client = 0;  ///< a number
    session_claim claim = {};  ///< without an id: the client has no session any more
    std::vector<session_options::endpoint> servers = {};
    std::optional<tls_options> tls = std::nullopt;
};

/// Messages of another kind: nothing is ended until the second one has come.
inline constexpr std::string_view guardian_waits = "waits";
inline constexpr std::string_view guardian_may_act = "may act";

/// The longest message. It is passed as one packet.
inline constexpr std::size_t longest_guardian_message = 32'768;

/// Empty if it would be too long.
[[nodiscard]] std::string packed(const guarded_session& s);

/// Nothing if these are no such bytes.
[[nodiscard]] std::optional<guarded_session> unpacked(std::string_view bytes);

}  // namespace latchkey::inline v0
