#pragma once

#include "output/status_output.hpp"

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

/// Reports the leader once.
[[nodiscard]] int leader_command(const std::vector<std::string>& arguments, status_output& output);

/// Shows who holds paths and who waits.
[[nodiscard]] int who_command(const std::vector<std::string>& arguments, status_output& output);

/// Lists all locks below a path.
[[nodiscard]] int tree_command(const std::vector<std::string>& arguments, status_output& output);

/// Shows a queue whenever it changes, until a signal ends it.
[[nodiscard]] int watch_command(const std::vector<std::string>& arguments, status_output& output);

/// Reports what is wrong with the locks below a path.
[[nodiscard]] int doctor_command(const std::vector<std::string>& arguments, status_output& output);

/// Shows all locks below some paths by HTTP, until a signal ends it.
[[nodiscard]] int serve_command(const std::vector<std::string>& arguments, status_output& output);

/// Measures how long servers take to answer.
[[nodiscard]] int ping_command(const std::vector<std::string>& arguments, status_output& output);
/// Deletes the znode of a participant, which takes its hold or place away.
[[nodiscard]] int break_command(const std::vector<std::string>& arguments, status_output& output);

/// Asks holders, or a participant, to give up.
[[nodiscard]] int revoke_command(const std::vector<std::string>& arguments, status_output& output);

/// Changes the number of permits of a semaphore.
[[nodiscard]] int resize_command(const std::vector<std::string>& arguments, status_output& output);

/// Sets or removes a barrier, or waits at it.
[[nodiscard]] int barrier_command(const std::vector<std::string>& arguments, status_output& output);

/// Runs a command as a member of a group.
[[nodiscard]] int join_command(const std::vector<std::string>& arguments, status_output& output);

/// Lists the members of a group, or reports its changes.
[[nodiscard]] int members_command(const std::vector<std::string>& arguments, status_output& output);

/// Runs an ensemble for development in this process, until a signal ends it.
[[nodiscard]] int dev_server_command(const std::vector<std::string>& arguments,
                                     status_output& output);

/// Prints what can stand at the cursor of a shell's command line. Not for people: the completion
/// scripts call it. `help_of` returns the help text of a command, or of the program for "".
[[nodiscard]] int complete_command(
    const std::vector<std::string>& arguments,
    const std::function<std::string(const std::string& command)>& help_of);

}  // namespace latchkey::cli
