#pragma once

#include <sys/types.h>

namespace latchkey::cli {

/// The terminal on stdin, if there is one, and whose turn it is to read from it. Made by latchkey,
/// used by its supervisor and the command; SIGTTOU must be blocked.
class terminal {
public:
    terminal() noexcept;

    /// In latchkey's foreground, gives the terminal to process group `group`; false if it is not
    /// latchkey's to give.
    bool give_to(pid_t group) const noexcept;

    /// Undoes give_to(), unless somebody else (a shell) has taken the terminal since.
    void take_back_from(pid_t group) const noexcept;

    /// Whether `group` has it.
    [[nodiscard]] bool belongs_to(pid_t group) const noexcept;

    /// False in a pipeline: its other commands are in latchkey's process group, and a pager among
    /// them needs the terminal. The command then gets it when it first asks for it.
    [[nodiscard]] bool give_at_start() const noexcept { return give_at_start_; }

private:
    pid_t home_;
    bool give_at_start_;
};

}  // namespace latchkey::cli
