#include "program.hpp"

#include "eventually.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

namespace {

char state_of(pid_t pid) {
    const auto text = content_of("/proc/" + std::to_string(pid) + "/stat");
    const auto after_name = text.rfind(')');
    return after_name == std::string::npos ? '\0' : text[after_name + 2];
}

void redirect(int fd, const std::filesystem::path& file) {
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
    auto name = (std::filesystem::temp_directory_path() / "programXXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), name);
    }
    folder_ = name;
    std::ofstream(folder_ / "in") << surroundings.standard_input;
    std::vector<std::string> words{LATCHKEY_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    pid_ = ::fork();
    if (pid_ == 0) {
        redirect(STDIN_FILENO, folder_ / "in");
        if (surroundings.closed_stdout) {
            redirect_to_nobody(STDOUT_FILENO);
        } else if (surroundings.standard_output >= 0) {
            ::dup2(surroundings.standard_output, STDOUT_FILENO);
        } else {
            redirect(STDOUT_FILENO, folder_ / "out");
        }
        redirect(STDERR_FILENO, folder_ / "err");
        for (const int fd : surroundings.closed) {
            ::close(fd);
        }
        become(words, surroundings);
    }
}

program::~program() {
    if (running()) {
        ::kill(pid_, SIGCONT);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string program::out() const {
    return content_of(folder_ / "out");
}

std::string program::err() const {
    return content_of(folder_ / "err");
}

void program::send(int signal) const {
    ::kill(pid_, signal);
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
    static_cast<void>(eventually([this] { return !running(); }, limit));
    return status_;
}

bool dead(pid_t pid) {
    const char state = state_of(pid);
    return state == '\0' || state == 'Z';
}

bool stopped(pid_t pid) {
    return state_of(pid) == 'T';
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream content;
    content << stream.rdbuf();  // nothing more of a process that has just ended
    return content.str();
}

}  // namespace latchkey::test
