#pragma once

#include <sys/types.h>

namespace latchkey::cli {

/// Makes this process the parent of every descendant that loses its own parent, whatever process
/// group or session it has gone to. From then on "waitpid() knows of no child" means that no
/// descendant is left.
void adopt_orphans() noexcept;

/// Sends `signal` to every descendant of this process that /proc shows at the moment, except those
/// in the process group `except` (0: no exception), and SIGCONT after it, so that a stopped one can
/// act on it. The answer is how many there are, also those that this user must not signal.
/// Processes that are started meanwhile can be missed: repeat until waitpid() knows of no child.
int signal_descendants(int signal, pid_t except = 0) noexcept;

}  // namespace latchkey::cli
