#pragma once

#include "output/signals.hpp"
#include "output/terminal.hpp"

#include <string>
#include <vector>

#include <sys/types.h>

namespace latchkey::cli {

/// "NAME=value".
using environment_setting = std::pair<std::string, std::string>;

/// A command that is being started: the leader of its own process group.
struct command_process {
    pid_t pid = 0;
    /// A pipe, non-blocking and close-on-exec. It ends when the command runs, and contains an errno
    /// if the command cannot run.
    int start_error = -1;
};

/// Forks and executes; searches the PATH. The command gets signals as latchkey got them, and dies
/// with the calling thread. Without `stdin_terminal` it gets /dev/null as stdin. Throws
/// std::system_error if no process can be made. Each variable in `process_ids` is the command's own
/// id.
[[nodiscard]] command_process start_command(const std::vector<std::string>& words,
                                            const std::vector<environment_setting>& settings,
                                            const std::vector<std::string>& process_ids,
                                            const signals& inherited,
                                            const terminal* stdin_terminal);

}  // namespace latchkey::cli
