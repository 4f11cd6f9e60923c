#pragma once

#include "client/session_listener.hpp"

#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// Those whom a client notifies of its session. On the loop only.
class session_listeners {
public:
    /// Keeps it alive until it is detached.
    void attach(std::shared_ptr<session_listener> added);

    /// Without effect if it is not attached.
    void detach(session_listener* removed);

    /// Notifies each that is attached now, unless another one detaches it before its turn.
    template <class... Parameters, class... Arguments>
    void notify(void (session_listener::*notice)(Parameters...), Arguments&&... with) const {
        for (const auto& each : std::vector(all_)) {
            if (each->place_ != session_listener::detached) {
                (*each.*notice)(with...);
            }
        }
    }

private:
    std::vector<std::shared_ptr<session_listener>> all_;
};

}  // namespace latchkey::inline v0
