#pragma once

#include <latchkey/loss_reason.hpp>

#include "session/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Whether the servers have said that a session is over, so that its ephemeral znodes are gone.
/// Otherwise they may still be there: the client gives the session up, or has got another one.
[[nodiscard]] constexpr bool is_end_by_servers(loss_reason why) noexcept {
    return why == loss_reason::session_expired;
}

/// What the creates of one znode have come to, in one session. Each of them notes its answer.
struct znode_creates {
    bool may_exist = false;
    bool may_come = false;  ///< the answer to one was lost: it may still be applied
};

/// Notified of what happens to a client's session. Called on the loop. Each overrides what concerns
/// it.
class session_listener {
public:
    session_listener() = default;
    session_listener(const session_listener&) = delete;
    session_listener& operator=(const session_listener&) = delete;
    virtual ~session_listener() = default;

    /// There is a connection, the first one of a session or a later one. What was read before may
    /// be out of date.
    virtual void session_connected() {}

    /// The connection is gone. The session may still be alive.
    virtual void session_suspended() {}

    /// The session is over; is_end_by_servers() says whether its ephemeral znodes are gone. Another
    /// session may follow.
    virtual void session_ended(loss_reason) {}

    /// The validity deadline has passed. What was held until now is lost, even if the session turns
    /// out to be alive.
    virtual void validity_passed() {}

    /// A quorum has answered that the znode at this path does not exist. It may belong to this
    /// listener.
    virtual void znode_missing(const std::string&) {}

    /// The client wants a znode at this path again: it is not to be deleted any more. `creates` are
    /// those of it until now.
    virtual void znode_wanted(const std::string& path, std::shared_ptr<znode_creates>& creates) {
        static_cast<void>(path);
        static_cast<void>(creates);
    }

    /// The client was closed, or can never be used again. No other call follows.
    virtual void client_closed(const failure& why) = 0;

private:
    friend class session_listeners;
    static constexpr std::size_t detached = SIZE_MAX;

    std::size_t place_ = detached;  ///< its place among the client's listeners
};

}  // namespace latchkey::inline v0
