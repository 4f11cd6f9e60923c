#pragma once

#include <latchkey/client.hpp>
#include <latchkey/participant.hpp>

#include "held_resource.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace latchkey::cli {

/// What came of trying to get what the command is to run under.
struct attempt_result {
    std::unique_ptr<held_resource> granted;  ///< nothing: not acquired
    int status = 0;                          ///< then the exit status
    std::string message = {};                ///< and why; empty where the status says it all
};

/// Called on the client's callback thread.
using place_listener = std::function<void(const place&)>;

/// How the program's commands differ that run something while they have something.
struct run_kind {
    /// Connects and waits for it; blocks. Does not throw. When `stop` is requested it gives up, and
    /// returns an empty result.
    std::function<attempt_result(client& c, std::stop_token stop, place_listener reserved)> attempt;

    const char* name = "lock";        ///< "lock PATH lost"
    const char* gained = "acquired";  ///< "acquired NODE"
    const char* given_up = "released";

    /// A try: what it waits for is the servers' answer, and has no other way to be cut short than
    /// to close the client.
    bool is_try = false;

    /// Begins again when the command has ended by itself, or what it ran under was lost.
    bool repeats = false;
};

/// Runs `attempt`; what it throws becomes the result.
[[nodiscard]] attempt_result without_throwing(const std::function<attempt_result()>& attempt);

}  // namespace latchkey::cli
