#pragma once

#include "signals.hpp"
#include "terminal.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace latchkey::cli {

/// "NAME=value".
using environment_setting = std::pair<std::string, std::string>;

/// A command being started: the leader of a process group of its own.
struct command_process {
    pid_t pid = 0;
    /// Non-blocking, close-on-exec. Ends when the command runs; holds an errno if it cannot.
    int start_error = -1;
};

/// Forks and executes; the PATH is searched. The command finds signals as latchkey found them, and
/// dies with the process that calls this. Throws std::system_error when there can be no process.
[[nodiscard]] command_process start_command(const std::vector<std::string>& words,
                                            const std::vector<environment_setting>& settings,
                                            const signals& inherited,
                                            const terminal& stdin_terminal);

}  // namespace latchkey::cli
