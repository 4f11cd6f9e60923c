#pragma once

#include <latchkey/client.hpp>

#include "client/session_listener.hpp"
#include "session/session.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// What a session_keeper notifies: a listener that passes everything on to the others. A call to
/// client_closed() means that no session can be opened any more. Called on the loop.
class session_owner : public session_listener {
public:
    virtual void state_changed(connection_state s) = 0;

    /// Why the last attempt to connect failed; without a text after success.
    virtual void trouble_changed(const session_event& trouble) = 0;

    /// Everyone has the rights `which` on the directory of a recipe, whose list keeps them for
    /// others. Once for each path.
    virtual void directory_exposed(const std::string& path, const std::string& which) = 0;

    /// For counting. `quorum_write`: a quorum of the servers has answered.
    virtual void request_sent() noexcept = 0;
    virtual void request_answered(request::kind what,
                                  std::chrono::nanoseconds took,
                                  result_code code,
                                  bool quorum_write) = 0;

    /// A server has answered a request on this znode.
    virtual void znode_answered(const std::string& path, request::kind what, result_code code) = 0;

    /// The session object is about to go. It still answers what is sent within this call.
    virtual void session_retires() = 0;

    /// A reference to the owner, and with it to the keeper.
    [[nodiscard]] virtual std::shared_ptr<const void> keep_alive() = 0;
};

}  // namespace latchkey::inline v0
