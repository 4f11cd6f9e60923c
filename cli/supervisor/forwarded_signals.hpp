#pragma once

#include <csignal>

#include <sys/wait.h>

namespace latchkey::cli {

/// The signals that latchkey has forwarded to the present command.
class forwarded_signals {
public:
    forwarded_signals() noexcept { clear(); }

    void clear() noexcept { ::sigemptyset(&signals_); }

    void add(int signal) noexcept { ::sigaddset(&signals_, signal); }

    /// Whether one of them was meant to end both the command, which ended with this wait status,
    /// and latchkey.
    [[nodiscard]] bool end_latchkey(int wait_status) const noexcept {
        return has(SIGINT) || has(SIGTERM) || has(SIGQUIT) ||
               (WIFSIGNALED(wait_status) && has(WTERMSIG(wait_status)));
    }

private:
    [[nodiscard]] bool has(int signal) const noexcept {
        return ::sigismember(&signals_, signal) == 1;
    }

    sigset_t signals_{};
};

}  // namespace latchkey::cli
