#include "run/loss_command.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

bool has_ended(pid_t pid) {
    const pid_t got = ::waitpid(pid, nullptr, WNOHANG);
    return got == pid || (got < 0 && errno == ECHILD);
}

void run_for_a_while(const std::vector<std::string>& words,
                     const std::vector<environment_setting>& settings,
                     const signals& inherited) {
    command_process process;
    try {
        process = start_command(words, settings, {}, inherited, nullptr);
    } catch (const std::system_error&) {
        return;
    }
    const auto end = std::chrono::steady_clock::now() + loss_command::limit;
    while (!has_ended(process.pid)) {
        if (std::chrono::steady_clock::now() >= end) {
            ::kill(-process.pid, SIGKILL);
        }
        ::poll(nullptr, 0, 20);
    }
    ::close(process.start_error);
}

}  // namespace

loss_command::loss_command(const std::string& text,
                           const std::vector<environment_setting>& settings,
                           const signals& inherited)
    : waiting_(
          [this, words = std::vector<std::string>{"/bin/sh", "-c", text}, settings, &inherited] {
              run_for_a_while(words, settings, inherited);
              ended_ = true;
          }) {}

}  // namespace latchkey::cli
