#pragma once

#include "signals.hpp"
#include "terminal.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// What the supervisor's process does: serves the orders that come through `socket`, until the
/// command has ended, or latchkey has and everything that the command started is dead.
[[noreturn]] void supervise(int socket,
                            const std::vector<std::string>& words,
                            const signals& inherited,
                            const terminal& stdin_terminal);

}  // namespace latchkey::cli
