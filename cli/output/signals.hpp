#pragma once

#include <csignal>

namespace latchkey::cli {

/// The signals that latchkey handles. They are blocked in every thread and read from a file
/// descriptor.
///
/// To be made before any thread or process. Signals that were ignored when latchkey started (nohup,
/// background jobs of a shell) stay ignored. The command gets signals as latchkey got them.
class signals {
public:
    /// Blocks the signals. Ignores SIGPIPE, so that writing to a closed pipe is an error and does
    /// not end latchkey. Gives SIGCHLD its default: ignored, it would prevent waiting for children.
    signals();
    signals(const signals&) = delete;
    signals& operator=(const signals&) = delete;
    ~signals();

    /// Readable when a signal has arrived; close-on-exec.
    [[nodiscard]] int fd() const noexcept { return fd_; }

    /// The next signal that has arrived; 0 if there is none.
    [[nodiscard]] int read() const noexcept;

    /// In a forked child, before exec: restores mask and dispositions as latchkey found them.
    void restore() const noexcept;

private:
    sigset_t original_mask_{};

    struct sigaction original_pipe_ {};

    struct sigaction original_child_ {};

    int fd_ = -1;
};

/// "TERM", for example.
[[nodiscard]] const char* signal_name(int signal) noexcept;

}  // namespace latchkey::cli
