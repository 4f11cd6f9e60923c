#pragma once

#include "cli_folder.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/thread/mutex.hpp>
#include <sys/types.h>

namespace latchkey::test {

/// How a user would start a program.
struct program_surroundings {
    std::map<std::string, std::string> environment = {};  ///< see set_environment()
    std::string standard_input = {};
    std::vector<int> ignored_signals = {};
    bool closed_stdout = false;      ///< a pipe without a reader
    std::vector<int> stalled = {};   ///< a full pipe that nobody reads, of 1 and 2
    bool terminal = false;           ///< has one of its own, of 120 columns, for 0, 1 and 2
    std::vector<int> closed = {};    ///< closed descriptors, of 0, 1 and 2
    std::optional<uid_t> user = {};  ///< another one; only root can start it
    std::vector<std::string> process_ids = {};  ///< variables with the id of the process
    int third_descriptor = -1;                  ///< is number 3 in the process
};

/// A process of the built `latchkey`. Killed with this object, if it still runs.
class program {
public:
    explicit program(const std::vector<std::string>& arguments,
                     const program_surroundings& surroundings = {});
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// The output so far; on a terminal with all that the terminal acts on.
    [[nodiscard]] std::string out() const;
    [[nodiscard]] std::string err() const;

    void send(int signal) const;

    /// On the terminal.
    void type(const std::string& text) const;

    [[nodiscard]] bool running();

    /// Waits for its end: the exit status, 128+n for a signal, -1 if it does not come.
    int wait(std::chrono::milliseconds limit = std::chrono::seconds(60));

private:
    void read_terminal();

    temporary_folder folder_;
    int terminal_ = -1;
    mutable boost::mutex mutex_;
    std::string screen_;
    std::jthread reading_;
    pid_t pid_ = 0;
    int status_ = -1;
    bool ended_ = false;
};

/// Runs a command with a time limit, in seconds, and returns it when it has ended. On a loaded
/// machine the limit may pass before the command gets as far as it should: it is repeated with
/// twice the limit until it says what is `wanted`, or has had two minutes.
template <class Run>
[[nodiscard]] std::unique_ptr<program> in_time(double limit, const std::string& wanted, Run run) {
    for (;; limit *= 2) {
        std::unique_ptr<program> p = run(std::to_string(limit));
        p->wait();
        if ((p->out() + p->err()).find(wanted) != std::string::npos || limit > 60) {
            return p;
        }
    }
}

/// Sets the environment of a child process, before it becomes the program: without what whoever
/// runs the tests has set for latchkey, and without their configuration files, but with these.
void set_environment(const std::map<std::string, std::string>& variables);

}  // namespace latchkey::test
