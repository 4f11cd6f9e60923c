#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace latchkey::test {

/// A process of its own that runs this program again, with other arguments; it never shared this
/// one's memory: a client does not survive a fork. Killed, if it still runs, with this object.
class child_process {
public:
    explicit child_process(std::vector<std::string> arguments);
    ~child_process();
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    void send(int signal) const;

    [[nodiscard]] bool running();
    /// Whether a signal has stopped it.
    [[nodiscard]] bool stopped() const;

    /// Waits for its end: the exit status, 128+n for a signal.
    int wait();

private:
    void reap(int options);

    pid_t pid_ = 0;
    int status_ = 0;
    bool ended_ = false;
};

}  // namespace latchkey::test
