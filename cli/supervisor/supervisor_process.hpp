#pragma once

#include "output/signals.hpp"
#include "output/terminal.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::cli {

/// From latchkey to its supervisor: one packet each. `run` is followed by settings for the
/// command's environment, "NAME=value\0" each.
struct supervisor_order {
    enum class kind : std::int32_t { run, move_deadline, end_now, forward };
    static constexpr int most_settings_bytes = 64 * 1024;

    kind what{};
    std::int32_t signal = 0;    ///< forward
    std::int64_t deadline = 0;  ///< run, move_deadline: CLOCK_BOOTTIME in nanoseconds
    std::int64_t grace = 0;     ///< run: in nanoseconds
};

/// From the supervisor to latchkey: one packet each. After `not_started`, `ended` and
/// `ended_by_loss` the command can be run again.
struct supervisor_report {
    enum class kind : std::int32_t {
        started,          ///< `number` is the process id
        not_started,      ///< `number` is an errno
        not_suspended,    ///< the user tried to suspend the command, which would keep the lock
        terminating,      ///< the deadline is near: TERM was sent
        cannot_kill,      ///< `number` processes were found after SIGKILL had some seconds to act
        ended,            ///< `number` is the command's wait status
        ended_by_loss,    ///< the same, and no process that the command started is left
        supervisor_died,  ///< never sent: what latchkey concludes from the end of the socket
    };

    kind what{};
    std::int32_t number = 0;
};

/// The supervisor's process: serves the orders that come through `socket`, until latchkey ends and
/// everything that the command started is dead. Then it allows the guardian to end the sessions.
[[noreturn]] void supervise(int socket,
                            const std::vector<std::string>& words,
                            const signals& inherited,
                            const terminal& stdin_terminal);

}  // namespace latchkey::cli
