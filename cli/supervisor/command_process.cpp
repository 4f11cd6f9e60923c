#include "supervisor/command_process.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

bool is_set_by(const std::vector<environment_setting>& settings, std::string_view line) {
    const auto name = line.substr(0, line.find('='));
    for (const auto& setting : settings) {
        if (setting.first == name) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> environment_with(const std::vector<environment_setting>& settings) {
    std::vector<std::string> lines;
    for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
        if (!is_set_by(settings, *line)) {
            lines.emplace_back(*line);
        }
    }
    for (const auto& [name, value] : settings) {
        lines.push_back(name + '=' + value);
    }
    return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& lines) {
    std::vector<char*> pointers;
    pointers.reserve(lines.size() + 1);
    for (auto& line : lines) {
        pointers.push_back(line.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

constexpr std::size_t room_for_id = 11;

/// Behind the name, where there is room for it. Between fork() and exec() nothing may be allocated.
void write_own_id(std::string& line) {
    char* const end = line.data() + line.size();
    std::to_chars(end - room_for_id, end, ::getpid());
}

void die_with(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL);
    if (::getppid() != parent) {
        ::_exit(127);  // the parent died before prctl()
    }
}

void take_stdin(const terminal* from) {
    if (from == nullptr) {
        ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    } else if (from->give_at_start()) {
        from->give_to(::getpid());
    }
}

}  // namespace

command_process start_command(const std::vector<std::string>& words,
                              const std::vector<environment_setting>& settings,
                              const std::vector<std::string>& process_ids,
                              const signals& inherited,
                              const terminal* stdin_terminal) {
    auto arguments = words;
    auto environment = environment_with(settings);
    const auto first_id = environment.size();
    for (const auto& name : process_ids) {
        environment.push_back(name + '=' + std::string(room_for_id, '\0'));
    }
    const auto argument_pointers = pointers_to(arguments);
    const auto environment_pointers = pointers_to(environment);
    const pid_t parent = ::getpid();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    const pid_t pid = ::fork();
    if (pid < 0) {
        const int error = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        throw std::system_error(error, std::generic_category(), "fork");
    }
    if (pid == 0) {
        die_with(parent);
        ::setpgid(0, 0);
        take_stdin(stdin_terminal);
        inherited.restore();
        for (auto i = first_id; i < environment.size(); ++i) {
            write_own_id(environment[i]);
        }
        ::execvpe(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
        const int error = errno;
        [[maybe_unused]] const auto written = ::write(ends[1], &error, sizeof error);
        ::_exit(127);
    }
    ::close(ends[1]);
    ::setpgid(pid, pid);  // both processes do this: either may be the first
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return {pid, ends[0]};
}

}  // namespace latchkey::cli
