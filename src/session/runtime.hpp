#pragma once

#include "loop/loop.hpp"
#include "session/session.hpp"

#include <functional>
#include <memory>

namespace latchkey {

/// What a client runs on: the loop, the ensemble's sessions, and threads for callbacks of the user.
///
/// `callbacks` starts a thread of that name (stepped, there is none): what is handed to the
/// executor runs there, one at a time and in order (stepped, as events of the loop).
/// `started`, if there is one, is told of each client how to close it when the servers are no more;
/// on the loop, and nothing happens once the client is gone.
struct runtime {
    using executor = std::function<void(std::function<void()>)>;

    std::shared_ptr<latchkey::loop> loop;
    std::shared_ptr<session_factory> sessions;
    std::function<executor(const char* thread)> callbacks;
    std::function<void(std::function<void()> close)> started = nullptr;
};

/// The process's own: one event thread for all clients, started with the first and ended with the
/// last.
[[nodiscard]] runtime process_runtime();

}  // namespace latchkey
