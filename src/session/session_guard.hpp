#pragma once

#include <latchkey/tls.hpp>

#include "session/session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Ends the session of a client at once if its process dies. On the loop only, but for the
/// construction. Destroyed, it guards nothing any more.
class session_guard {
public:
    session_guard() = default;
    session_guard(const session_guard&) = delete;
    session_guard& operator=(const session_guard&) = delete;
    virtual ~session_guard() = default;

    /// The present session, which replaces the one before; without an id: there is none.
    virtual void guard(const session_claim& claim) = 0;
};

/// What a guardian needs to know of a client.
struct guarded_client {
    std::string program;  ///< the path of the guardian's program; empty: the installed one
    std::vector<session_options::endpoint> servers;
    std::optional<tls_options> tls;
};

/// Any thread. Throws errc::invalid_argument if the program cannot be started.
using session_guards = std::function<std::unique_ptr<session_guard>(guarded_client)>;

}  // namespace latchkey::inline v0
