#pragma once

#include <latchkey/hold.hpp>

#include "client/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace latchkey {

/// Hears what becomes of a client's session: attempts, holds, watches, candidates. Called on the
/// loop. What a listener does not override does not concern it.
class session_listener {
public:
    session_listener() = default;
    session_listener(const session_listener&) = delete;
    session_listener& operator=(const session_listener&) = delete;
    virtual ~session_listener() = default;

    /// There is a connection, the first of a session or another one. What was read before may be
    /// out of date.
    virtual void session_connected() {}

    /// The connection is gone, and the session perhaps alive.
    virtual void session_suspended() {}

    /// The session is over, and its ephemeral znodes with it. Another one may follow.
    virtual void session_ended(loss) {}

    /// The validity deadline has passed: what was held until now is lost, even if the session turns
    /// out to live.
    virtual void validity_passed() {}

    /// A quorum has answered that the znode at this path is not there. It may be this listener's.
    virtual void znode_missing(const std::string&) {}

    /// The client is closed, or can never be used again. No further call is made.
    virtual void client_closed(const failure& why) = 0;

private:
    friend class client_core;
    static constexpr std::size_t detached = SIZE_MAX;

    std::size_t place_ = detached;  ///< among those that its client tells
};

}  // namespace latchkey
