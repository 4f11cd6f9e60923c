#pragma once

#include "program.hpp"

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <boost/thread/mutex.hpp>
#include <sys/types.h>

namespace latchkey::test {

/// A process of the built `latchkey` with a terminal of its own, of 120 columns, as stdin, stdout
/// and stderr. Killed with this object, if it still runs.
class terminal_program {
public:
    terminal_program(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment);
    terminal_program(const terminal_program&) = delete;
    terminal_program& operator=(const terminal_program&) = delete;
    ~terminal_program();

    /// What it has written so far, with all that a terminal acts on.
    [[nodiscard]] std::string screen() const;

    void type(const std::string& text) const;
    void send(int signal) const;

    /// Waits for its end, and for all that it has written: the exit status, as program::wait().
    int wait(std::chrono::milliseconds limit = std::chrono::seconds(60));

private:
    void read_all();

    int terminal_ = -1;
    pid_t pid_ = 0;
    bool ended_ = false;
    mutable boost::mutex mutex_;
    std::string screen_;
    std::jthread reading_;
};

}  // namespace latchkey::test
