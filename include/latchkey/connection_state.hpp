#pragma once

#include <latchkey/export.hpp>

#include <cstdint>

namespace latchkey::inline v0 {

/// What a client knows about its session.
enum class connection_state : std::uint8_t {
    connecting,  ///< not connected for the first time yet; never reported to listeners
    connected,   ///< connected, with a new session
    suspended,  ///< the connection is gone, the session perhaps alive: holds stay valid until their
                ///< deadline
    reconnected,  ///< the same session again
    lost,    ///< the session is gone, or validity could no longer be proven: every hold is lost
    closed,  ///< the client was closed; no other state follows
};

[[nodiscard]] LATCHKEY_EXPORT const char* to_string(connection_state s) noexcept;

}  // namespace latchkey::inline v0
