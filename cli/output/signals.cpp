#include "output/signals.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/signalfd.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

bool ignored(int signal) {
    struct sigaction action {};

    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

signals::signals() {
    sigset_t taken;
    ::sigemptyset(&taken);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT}) {
        if (!ignored(signal)) {
            ::sigaddset(&taken, signal);
        }
    }
    fd_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0) {
        throw std::system_error(errno, std::generic_category(), "signalfd");
    }
    // latchkey may write to a terminal from the background, and give it to the command. Neither may
    // stop it.
    sigset_t blocked = taken;
    ::sigaddset(&blocked, SIGTTOU);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &original_mask_);

    struct sigaction ignore {};

    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &original_pipe_);

    const struct sigaction by_default {};

    ::sigaction(SIGCHLD, &by_default, &original_child_);
}

signals::~signals() {
    ::close(fd_);
    restore();
}

int signals::read() const noexcept {
    signalfd_siginfo info{};
    const auto got = ::read(fd_, &info, sizeof info);
    return got == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

void signals::restore() const noexcept {
    ::sigaction(SIGPIPE, &original_pipe_, nullptr);
    ::sigaction(SIGCHLD, &original_child_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

const char* signal_name(int signal) noexcept {
    const char* name = ::sigabbrev_np(signal);
    return name != nullptr ? name : "unknown";
}

}  // namespace latchkey::cli
