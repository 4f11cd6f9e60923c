#pragma once

#include "loop.hpp"
#include "session.hpp"

#include <functional>
#include <memory>

namespace latchkey {

/// What a client runs on: the loop, the ensemble's sessions, and a place for callbacks of the user.
///
/// `callbacks` makes an executor for one client: what is handed to it runs one at a time, in order,
/// and not on the loop's thread (in a stepped in-process ensemble: as an event of its own).
/// `started`, if there is one, is told of each client how to close it when the servers are no more;
/// on the loop, and nothing happens once the client is gone.
struct environment {
    using executor = std::function<void(std::function<void()>)>;

    std::shared_ptr<latchkey::loop> loop;
    std::shared_ptr<session_factory> sessions;
    std::function<executor()> callbacks;
    std::function<void(std::function<void()> close)> started = nullptr;
};

/// The process's own: one event thread for all clients, started with the first and ended with the
/// last.
[[nodiscard]] environment process_environment();

}  // namespace latchkey
