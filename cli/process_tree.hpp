#pragma once

#include <chrono>
#include <functional>

#include <sys/types.h>

namespace latchkey::cli {

/// Makes this process the parent of every descendant that loses its own parent, whatever process
/// group or session it has gone to. From then on "waitpid() knows of no child" means that no
/// descendant is left.
void adopt_orphans() noexcept;

/// Whether /proc shows this process's descendants.
[[nodiscard]] bool sees_descendants() noexcept;

/// Sends `signal` to every descendant of this process, except those in the process group `except`
/// (0: no exception), and SIGCONT after it, so that a stopped one can act on it. Returns how many
/// it has found, which includes those that this user must not signal.
///
/// Repeat it until waitpid() knows of no child: processes that are started meanwhile can be missed.
/// So can, where /proc does not show them, all but this process's own children. SIGKILL still
/// reaches every descendant in the end, because the death of its parent makes it a child.
///
/// Cost: a few system calls for each descendant and each of its threads, however many processes
/// the machine has. Where /proc does not show descendants, 65,536 system calls, SIGKILL reaches
/// children within 128 calls, and other signals reach none.
int signal_descendants(int signal, pid_t except = 0) noexcept;

/// After so long it is worth telling that processes survive SIGKILL.
inline constexpr std::chrono::seconds survivors_are_told_after{5};

/// Kills and reaps every descendant; returns when none is left. `survive` is called once, with how
/// many were found last, when that takes long.
void kill_descendants(const std::function<void(int left)>& survive);

}  // namespace latchkey::cli
