#pragma once

#include <chrono>
#include <functional>

#include <sys/types.h>

namespace latchkey::cli {

/// Makes this process the parent of every descendant that loses its own parent, in whatever process
/// group or session it is. From then on no descendant is left when waitpid() knows of no child.
void adopt_orphans() noexcept;

/// Whether /proc shows this process's descendants.
[[nodiscard]] bool sees_descendants() noexcept;

/// Sends `signal` to every descendant of this process, except those in the process group `except`
/// (0: no exception). SIGCONT follows, so that a stopped process can act on it. Returns the number
/// of descendants found, including those that this user must not signal.
///
/// Repeat it until waitpid() knows of no child: a call can miss processes that are just started.
/// Where /proc does not show descendants, it misses all but the children of this process. Repeated
/// SIGKILL still reaches every descendant, because the death of its parent makes it a child.
///
/// Cost: a few system calls for each descendant and each of its threads; other processes of the
/// machine cost nothing. Where /proc does not show descendants: 65,536 system calls. SIGKILL then
/// reaches every child within 128 calls of this function, and other signals reach none.
int signal_descendants(int signal, pid_t except = 0) noexcept;

/// Processes that survive SIGKILL for this long are reported.
inline constexpr std::chrono::seconds survivors_are_reported_after{5};

/// Kills and reaps every descendant; returns when none is left. If that takes long, calls `report`
/// once, with the number of descendants found last.
void kill_descendants(const std::function<void(int left)>& report);

}  // namespace latchkey::cli
