#include "program.hpp"

#include "eventually.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <boost/thread/lock_guard.hpp>
#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

namespace {

void redirect(int fd, const std::string& file) {
    const int opened =
        ::open(file.c_str(), fd == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
    if (opened < 0 || ::dup2(opened, fd) < 0) {
        ::_exit(120);
    }
    ::close(opened);
}

void redirect_to_nobody(int fd) {
    int ends[2];
    if (::pipe(ends) != 0 || ::dup2(ends[1], fd) < 0) {
        ::_exit(120);
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

/// The process has the pipe's other end itself.
void redirect_to_full_pipe(int fd) {
    int ends[2];
    if (::pipe(ends) != 0 || ::fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
        ::_exit(120);
    }
    while (::write(ends[1], "x", 1) == 1) {
    }
    ::fcntl(ends[1], F_SETFL, 0);
    ::dup2(ends[1], fd);
}

void set_signals(const std::vector<int>& ignored) {
    for (int signal = 1; signal < NSIG; ++signal) {
        std::signal(signal, SIG_DFL);
    }
    for (const int signal : ignored) {
        std::signal(signal, SIG_IGN);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const std::vector<std::string>& words,
                         const program_surroundings& around) {
    set_environment(around.environment);
    for (const auto& name : around.process_ids) {
        ::setenv(name.c_str(), std::to_string(::getpid()).c_str(), 1);
    }
    if (around.third_descriptor == 3) {
        ::fcntl(3, F_SETFD, 0);
    } else if (around.third_descriptor >= 0) {
        ::dup2(around.third_descriptor, 3);
    }
    set_signals(around.ignored_signals);
    if (around.user && ::getuid() != *around.user &&
        (::setgroups(0, nullptr) != 0 || ::setgid(*around.user) != 0 ||
         ::setuid(*around.user) != 0)) {
        ::_exit(122);
    }
    std::vector<char*> pointers;
    for (const auto& word : words) {
        pointers.push_back(const_cast<char*>(word.c_str()));
    }
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(121);
}

}  // namespace

void set_environment(const std::map<std::string, std::string>& variables) {
    std::vector<std::string> others{"ZK_HOSTS"};
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view name = std::string_view(*one).substr(0, std::strcspn(*one, "="));
        if (name.starts_with("LATCHKEY_")) {
            others.emplace_back(name);
        }
    }
    for (const std::string& name : others) {
        ::unsetenv(name.c_str());
    }
    ::setenv("LATCHKEY_CONFIG", "", 1);
    ::setenv("SHELL", "/bin/sh", 1);
    for (const auto& [name, value] : variables) {
        ::setenv(name.c_str(), value.c_str(), 1);
    }
}

program::program(const std::vector<std::string>& arguments,
                 const program_surroundings& surroundings) {
    folder_.write("in", surroundings.standard_input);
    std::vector<std::string> words{LATCHKEY_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = surroundings.terminal ? ::forkpty(&terminal_, nullptr, nullptr, &size) : ::fork();
    if (pid_ == 0) {
        if (surroundings.terminal) {
            ::setenv("TERM", "xterm", 1);
        } else {
            redirect(STDIN_FILENO, folder_ / "in");
            redirect(STDOUT_FILENO, folder_ / "out");
            redirect(STDERR_FILENO, folder_ / "err");
        }
        if (surroundings.closed_stdout) {
            redirect_to_nobody(STDOUT_FILENO);
        }
        for (const int fd : surroundings.stalled) {
            redirect_to_full_pipe(fd);
        }
        for (const int fd : surroundings.closed) {
            ::close(fd);
        }
        become(words, surroundings);
    }
    if (surroundings.terminal) {
        reading_ = std::jthread([this] { read_terminal(); });
    }
}

/// The read fails when no process has the terminal any more.
void program::read_terminal() {
    char part[4096];
    for (ssize_t size = 0; (size = ::read(terminal_, part, sizeof part)) > 0;) {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        screen_.append(part, static_cast<std::size_t>(size));
    }
}

program::~program() {
    if (running()) {
        ::kill(pid_, SIGCONT);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    if (terminal_ >= 0) {
        reading_ = {};
        ::close(terminal_);
    }
}

std::string program::out() const {
    if (terminal_ >= 0) {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        return screen_;
    }
    return folder_.content("out");
}

std::string program::err() const {
    return folder_.content("err");
}

void program::send(int signal) const {
    ::kill(pid_, signal);
}

void program::type(const std::string& text) const {
    static_cast<void>(::write(terminal_, text.data(), text.size()));
}

bool program::running() {
    if (!ended_) {
        int status = 0;
        ended_ = ::waitpid(pid_, &status, WNOHANG) != 0;
        if (ended_) {
            status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
    }
    return !ended_;
}

int program::wait(std::chrono::milliseconds limit) {
    if (eventually([this] { return !running(); }, limit)) {
        reading_ = {};  // it has read everything
    }
    return status_;
}

}  // namespace latchkey::test
