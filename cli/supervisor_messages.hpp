#pragma once

#include <cstdint>

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

/// From the supervisor to latchkey: one packet each.
struct supervisor_report {
    enum class kind : std::int32_t {
        started,          ///< `number` is the process id
        not_started,      ///< `number` is an errno; then the next `run` may be ordered
        not_suspended,    ///< the user tried to; a suspended command would keep the lock for ever
        terminating,      ///< the deadline is near: TERM was sent
        cannot_kill,      ///< SIGKILL does not end them; `number` is how many processes were found
        ended,            ///< `number` is the command's wait status; then the same
        ended_by_loss,    ///< the same, and nothing that the command started is left
        supervisor_died,  ///< never sent: what latchkey concludes when there is nothing to read
    };

    kind what{};
    std::int32_t number = 0;
};

}  // namespace latchkey::cli
