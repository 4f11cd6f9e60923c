#include "child_process.hpp"

#include "eventually.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace latchkey::test {

child_process::child_process(std::vector<std::string> command, bool talks) {
    std::vector<char*> argv;
    for (std::string& word : command) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    std::array<int, 2> to{-1, -1};
    std::array<int, 2> from{-1, -1};
    if (talks) {
        std::signal(SIGPIPE, SIG_IGN);  // one that has ended is an error of what is said to it
        if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
        ::posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
    }
    // A socket that it inherited would not end when this process closes it.
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    const int failed = ::posix_spawnp(&pid_, argv.front(), &files, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    output_ = from[0];
    if (failed != 0) {
        throw std::system_error(failed, std::generic_category(), command.front());
    }
}

child_process::~child_process() {
    if (!ended_) {
        send(SIGKILL);
        wait();
    }
    hang_up();
    ::close(output_);
}

void child_process::send(int signal) const {
    ::kill(pid_, signal);
}

void child_process::stop() const {
    send(SIGSTOP);
    if (!eventually([this] { return stopped(); })) {
        throw std::runtime_error("a process does not stop");
    }
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

void child_process::say(const std::string& line) const {
    const std::string text = line + '\n';
    if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::system_error(errno, std::generic_category(), line);
    }
}

std::optional<std::string> child_process::hear() {
    std::size_t end = 0;
    while ((end = pending_.find('\n')) == std::string::npos) {
        std::array<char, 4096> some{};
        const ssize_t n = ::read(output_, some.data(), some.size());
        if (n > 0) {
            pending_.append(some.data(), static_cast<std::size_t>(n));
        } else if (n == 0 || errno != EINTR) {
            return std::nullopt;
        }
    }
    std::string line = pending_.substr(0, end);
    pending_.erase(0, end + 1);
    return line;
}

void child_process::hang_up() {
    ::close(std::exchange(input_, -1));
}

}  // namespace latchkey::test
