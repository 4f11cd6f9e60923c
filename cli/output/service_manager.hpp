#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What systemd shows of a unit with Type=notify, and what it addresses to the process of the unit
// by its id: sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3), without its library. systemd
// promises that these protocols stay.

namespace latchkey::cli {

/// What the command that latchkey runs gets of what was addressed to latchkey.
struct passed_to_command {
    /// LISTEN_FDS, LISTEN_FDNAMES, WATCHDOG_USEC, NOTIFY_SOCKET: name and value.
    std::vector<std::pair<std::string, std::string>> settings;
    /// LISTEN_PID, WATCHDOG_PID, SYSTEMD_EXEC_PID: the command gets its own id in each of them.
    std::vector<std::string> process_ids;
};

/// Takes all this out of the environment. To be called once, before the process has any thread.
void find_service_manager();

/// Tells it about an event of status_output, if it is one that an operator cares for: the unit's
/// status is `text`, and the unit is ready once it is "acquired", "elected", "joined" or
/// "listening". Does nothing without a service manager, and nothing depends on its success.
void tell_service_manager(std::string_view event, const std::string& text);

/// Is empty if nothing was addressed to this process.
[[nodiscard]] const passed_to_command& settings_of_service_manager();

/// One of them is readable when serve_watchdog() has work. None: the unit has no watchdog.
[[nodiscard]] std::vector<int> watchdog_descriptors();

/// Tells the watchdog of the unit (WatchdogSec=) twice in its interval that this process is well,
/// which is the case as long as its loop calls this. While a command runs that speaks for itself,
/// latchkey passes on what it says, and says nothing of its own: a command that hangs is noticed.
/// systemd listens to the main process of a unit alone, so the command has a socket of latchkey.
void serve_watchdog();

/// Whether a command runs from now on. It does not before the first call.
void set_command_runs(bool runs);

}  // namespace latchkey::cli
