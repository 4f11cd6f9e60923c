#pragma once

#include "client/session_listener.hpp"

#include <memory>

namespace latchkey::inline v0 {

/// What a session_keeper notifies: a listener that passes everything on to the others. A call to
/// client_closed() means that no session can be opened any more. Called on the loop.
class session_owner : public session_listener {
public:
    /// The session object is about to go. It still answers what is sent within this call.
    virtual void session_retires() = 0;

    /// A reference to the owner, and with it to the keeper.
    [[nodiscard]] virtual std::shared_ptr<const void> keep_alive() = 0;
};

}  // namespace latchkey::inline v0
