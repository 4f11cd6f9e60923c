#pragma once

#include <latchkey/client.hpp>
#include <latchkey/participant.hpp>

#include "output/exit_status.hpp"
#include "run/held_resource.hpp"
#include "run/waiting_line.hpp"

#include <functional>
#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// Called on the client's callback thread.
using place_listener = std::function<void(const queue_position&)>;

/// How the commands differ that run a command while they hold something.
struct run_kind {
    /// Connects and acquires; blocks. Returns nothing if it was not acquired, or when `stop` is
    /// requested. What it throws ends the run.
    std::function<std::optional<held_resource>(
        client& c, const std::stop_token& stop, place_listener on_place)>
        acquire;

    const char* name = "lock";          ///< "lock PATH lost"
    const char* acquired = "acquired";  ///< "acquired NODE"
    const char* released = "released";
    int not_acquired_status = exit_status::not_acquired;
    int skipped_status = exit_status::success;  ///< --once-per: it has succeeded recently

    /// It waits only for the servers' answer. Only closing the client can stop that.
    bool is_try = false;

    /// Begins again when the command has ended by itself, or the resource was lost.
    bool repeats = false;

    /// What the line on a terminal is about, while it waits.
    waiting_line::about waits_for = waiting_line::about::own_place;
};

}  // namespace latchkey::cli
