#pragma once

#include "options/command_syntax.hpp"
#include "output/status_output.hpp"

#include <span>
#include <string>
#include <vector>

// latchkey's commands, and their entries in the table of commands and options. Each gets the words
// after its name and returns the exit status. It sets `output` as its options say, and throws
// command_failure, help_request, latchkey::error and other exceptions of the standard library. To
// be called before the process has any thread.

namespace latchkey::cli {

using command_function = int(const std::vector<std::string>& arguments, status_output& output);

extern const command_syntax lock_syntax;
command_function lock_command;
extern const command_syntax elect_syntax;
command_function elect_command;
extern const command_syntax resign_syntax;
command_function resign_command;
extern const command_syntax leader_syntax;
command_function leader_command;
extern const command_syntax who_syntax;
command_function who_command;
extern const command_syntax tree_syntax;
command_function tree_command;
extern const command_syntax watch_syntax;
command_function watch_command;
extern const command_syntax doctor_syntax;
command_function doctor_command;
extern const command_syntax serve_syntax;
command_function serve_command;
extern const command_syntax ping_syntax;
command_function ping_command;
extern const command_syntax break_syntax;
command_function break_command;
extern const command_syntax revoke_syntax;
command_function revoke_command;
extern const command_syntax resize_syntax;
command_function resize_command;
extern const command_syntax barrier_syntax;
command_function barrier_command;
extern const command_syntax join_syntax;
command_function join_command;
extern const command_syntax members_syntax;
command_function members_command;
extern const command_syntax dev_server_syntax;
command_function dev_server_command;

/// Prints what can stand at the cursor of a shell's command line. Not for people: the completion
/// scripts call it.
[[nodiscard]] int complete_command(const std::vector<std::string>& arguments,
                                   std::span<const command_syntax* const> commands);

}  // namespace latchkey::cli
