#include "terminal_program.hpp"

#include "eventually.hpp"

#include <csignal>
#include <cstdlib>

#include <boost/thread/lock_guard.hpp>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

terminal_program::terminal_program(const std::vector<std::string>& arguments,
                                   const std::map<std::string, std::string>& environment) {
    winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<std::string> words{LATCHKEY_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
        ::setenv("TERM", "xterm", 1);
        set_environment(environment);
        ::execv(pointers[0], pointers.data());
        ::_exit(121);
    }
    reading_ = std::jthread([this] { read_all(); });
}

terminal_program::~terminal_program() {
    if (!ended_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    reading_.join();
    ::close(terminal_);
}

/// The read fails when no process has the terminal any more.
void terminal_program::read_all() {
    char part[4096];
    for (ssize_t size = 0; (size = ::read(terminal_, part, sizeof part)) > 0;) {
        const boost::lock_guard<boost::mutex> lock(mutex_);
        screen_.append(part, static_cast<std::size_t>(size));
    }
}

std::string terminal_program::screen() const {
    const boost::lock_guard<boost::mutex> lock(mutex_);
    return screen_;
}

void terminal_program::type(const std::string& text) const {
    static_cast<void>(::write(terminal_, text.data(), text.size()));
}

void terminal_program::send(int signal) const {
    ::kill(pid_, signal);
}

int terminal_program::wait(std::chrono::milliseconds limit) {
    int status = 0;
    const bool in_time =
        eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, limit);
    if (!in_time) {
        return -1;
    }
    ended_ = true;
    reading_.join();
    reading_ = std::jthread([] {});
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace latchkey::test
