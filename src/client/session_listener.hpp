#pragma once

#include <latchkey/hold.hpp>

#include "client/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace latchkey {

/// Somebody who lives on a client's session and must know what becomes of it: a queue_participant.
/// Called on the loop.
class session_listener {
public:
    session_listener() = default;
    session_listener(const session_listener&) = delete;
    session_listener& operator=(const session_listener&) = delete;
    virtual ~session_listener() = default;

    /// There is a connection, the first of a session or another one. What was read before may be
    /// out of date.
    virtual void session_connected() = 0;

    /// The connection is gone, and the session perhaps alive.
    virtual void session_suspended() {}

    /// The session is over, and its ephemeral znodes with it. Another one may follow.
    virtual void session_ended(loss why) = 0;

    /// The validity deadline has passed: what was held until now is lost, even if the session turns
    /// out to live.
    virtual void validity_passed() = 0;

    /// A quorum has answered that the znode at `path` is not there. It may be this user's.
    virtual void znode_missing(const std::string& path) = 0;

    /// The client is closed, or can never be used again. No further call is made.
    virtual void client_closed(const failure& why) = 0;

private:
    friend class client_core;
    static constexpr std::size_t detached = SIZE_MAX;

    std::size_t place_ = detached;  ///< among those that its client tells
};

}  // namespace latchkey
