#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace latchkey::test {

/// How a user would start a program.
struct program_surroundings {
    std::map<std::string, std::string> environment = {};  ///< see set_environment()
    std::string standard_input = {};
    std::vector<int> ignored_signals = {};
    bool closed_stdout = false;      ///< a pipe without a reader
    int standard_output = -1;        ///< a terminal, for example; -1: a file, see program::out()
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

    /// The output so far.
    [[nodiscard]] std::string out() const;
    [[nodiscard]] std::string err() const;

    void send(int signal) const;

    [[nodiscard]] bool running();

    /// Waits for its end: the exit status, 128+n for a signal, -1 if it does not come.
    int wait(std::chrono::milliseconds limit = std::chrono::seconds(60));

private:
    std::filesystem::path folder_;
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

/// Neither running nor stopped. It may be a zombie.
[[nodiscard]] bool dead(pid_t pid);

/// Stopped by a signal, with all threads.
[[nodiscard]] bool stopped(pid_t pid);

[[nodiscard]] std::string content_of(const std::filesystem::path& file);

}  // namespace latchkey::test
