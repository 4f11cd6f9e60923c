#pragma once

#include <string>
#include <string_view>

// What systemd shows of a unit with Type=notify: sd_notify(3), without its library. The protocol is
// one datagram, and systemd promises that it stays.

namespace latchkey::cli {

/// Takes the socket out of the environment, so that the command that latchkey runs does not speak
/// for the unit. To be called once, before the process has any thread.
void find_service_manager();

/// Tells it about an event of status_output, if it is one that an operator cares for: the unit's
/// status is `text`, and the unit is ready once it is "acquired" or "elected". Does nothing without
/// a service manager, and nothing depends on its success.
void tell_service_manager(std::string_view event, const std::string& text);

}  // namespace latchkey::cli
