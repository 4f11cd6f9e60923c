#pragma once

#include <sys/types.h>

namespace latchkey::cli {

/// The terminal on stdin, if there is one: which process group is in its foreground. Made by
/// latchkey, used by its supervisor and the command. SIGTTOU must be blocked.
class terminal {
public:
    terminal() noexcept;

    /// Brings `group` to the foreground, if latchkey's own group is there; false if it is not.
    bool give_to(pid_t group) const noexcept;

    /// Undoes give_to(), unless another process (a shell) has taken the terminal since.
    void take_back_from(pid_t group) const noexcept;

    /// Whether `group` is in the foreground.
    [[nodiscard]] bool belongs_to(pid_t group) const noexcept;

    /// False in a pipeline: its other commands are in latchkey's process group, and a pager among
    /// them needs the terminal. The command then gets the terminal when it first reads from it.
    [[nodiscard]] bool give_at_start() const noexcept { return give_at_start_; }

private:
    pid_t home_;
    bool give_at_start_;
};

}  // namespace latchkey::cli
