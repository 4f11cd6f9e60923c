#pragma once

#include <csignal>

namespace latchkey::cli {

/// The signals that latchkey answers itself. They are blocked in every thread and read from a file
/// descriptor.
///
/// Made by main() before any thread or process. Signals that were ignored when latchkey was started
/// (nohup, a shell's background jobs) stay ignored. Restored in the command, which must find what
/// latchkey found.
class signals {
public:
    /// Blocks. Ignores SIGPIPE, so that a reader that went away is an error and not a death; gives
    /// SIGCHLD its default, without which nobody can wait for children.
    signals();
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals();

    /// Readable when one has arrived; close-on-exec.
    [[nodiscard]] int fd() const noexcept { return fd_; }

    /// The next one that has arrived; 0 if there is none.
    [[nodiscard]] int read() const noexcept;

    /// In a forked child, before exec: mask and dispositions as latchkey found them.
    void restore() const noexcept;

private:
    sigset_t original_mask_{};

    struct sigaction original_pipe_ {};

    struct sigaction original_child_ {};

    int fd_ = -1;
};

/// "TERM".
[[nodiscard]] const char* signal_name(int signal) noexcept;

}  // namespace latchkey::cli
