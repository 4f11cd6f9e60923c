#include "child_process.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace latchkey::test {

child_process::child_process(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "/proc/self/exe");
    std::vector<char*> argv;
    for (std::string& word : arguments) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    // A socket that it inherited would not end when this process closes it.
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    const int error = ::posix_spawn(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw std::runtime_error("cannot start " + arguments[1]);
    }
}

child_process::child_process(child_process&& other) noexcept
    : pid_(other.pid_), status_(other.status_), ended_(std::exchange(other.ended_, true)) {}

child_process::~child_process() {
    if (!ended_) {
        send(SIGKILL);
        wait();
    }
}

void child_process::send(int signal) const {
    ::kill(pid_, signal);
}

void child_process::reap(int options) {
    int status = 0;
    if (!ended_ && ::waitpid(pid_, &status, options) == pid_) {
        ended_ = true;
        status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

bool child_process::running() {
    reap(WNOHANG);
    return !ended_;
}

bool child_process::stopped() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto after_name = text.rfind(')');
    return after_name != std::string::npos && text.substr(after_name + 2, 1) == "T";
}

int child_process::wait() {
    reap(0);
    return status_;
}

}  // namespace latchkey::test
