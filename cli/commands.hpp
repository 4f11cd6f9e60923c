#pragma once

#include "status_output.hpp"

#include <functional>
#include <string>
#include <vector>

// latchkey's commands. Each gets the words after its name and returns the exit status. It sets
// `output` as its options say, and throws command_failure, help_request, latchkey::error and other
// exceptions of the standard library. To be called before the process has any thread.

namespace latchkey::cli {

/// Runs a command while holding a lock.
[[nodiscard]] int lock_command(const std::vector<std::string>& arguments, status_output& output);

/// Runs a command while leading, or reports the leader.
[[nodiscard]] int elect_command(const std::vector<std::string>& arguments, status_output& output);

/// Asks a leader to hand over.
[[nodiscard]] int resign_command(const std::vector<std::string>& arguments, status_output& output);

/// Runs an ensemble for development in this process, until a signal ends it.
[[nodiscard]] int dev_server_command(const std::vector<std::string>& arguments,
                                     status_output& output);

/// Prints what can stand at the cursor of a shell's command line. Not for people: the completion
/// scripts call it. `help_of` returns the help text of a command, or of the program for "".
[[nodiscard]] int complete_command(
    const std::vector<std::string>& arguments,
    const std::function<std::string(const std::string& command)>& help_of);

}  // namespace latchkey::cli
