#include "supervisor/supervisor.hpp"

#include "output/terminal.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::cli {

supervisor::supervisor(const std::vector<std::string>& command,
                       const signals& inherited,
                       void (*forget)()) {
    const terminal stdin_terminal;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
    }
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[0]);
        forget();
        supervise(ends[1], command, inherited, stdin_terminal);
    }
    const int error = errno;
    ::close(ends[1]);
    if (pid_ < 0) {
        ::close(ends[0]);
        throw std::system_error(error, std::generic_category(), "fork");
    }
    socket_ = ends[0];
    ::setpgid(pid_, pid_);  // both processes do this: either may be the first
}

supervisor::~supervisor() {
    end();
}

void supervisor::end() noexcept {
    if (socket_ >= 0) {
        ::close(std::exchange(socket_, -1));
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

void supervisor::run(const std::vector<environment_setting>& settings,
                     boottime_clock::time_point deadline,
                     std::chrono::nanoseconds grace) {
    supervisor_order o{supervisor_order::kind::run};
    o.deadline = deadline.time_since_epoch().count();
    o.grace = grace.count();
    std::string lines;
    for (const auto& [name, value] : settings) {
        lines += name + '=' + value + '\0';
    }
    send(o, lines);
}

void supervisor::move_deadline(boottime_clock::time_point deadline) {
    supervisor_order o{supervisor_order::kind::move_deadline};
    o.deadline = deadline.time_since_epoch().count();
    send(o);
}

void supervisor::end_now() {
    send(supervisor_order{supervisor_order::kind::end_now});
}

void supervisor::forward(int signal) {
    supervisor_order o{supervisor_order::kind::forward};
    o.signal = signal;
    send(o);
}

std::optional<supervisor_report> supervisor::read() {
    supervisor_report r;
    const auto size = ::recv(socket_, &r, sizeof r, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
        return std::nullopt;
    }
    if (size != static_cast<ssize_t>(sizeof r)) {
        return supervisor_report{supervisor_report::kind::supervisor_died};
    }
    return r;
}

void supervisor::send(const supervisor_order& o, const std::string& settings) const {
    std::string packet(reinterpret_cast<const char*>(&o), sizeof o);
    packet += settings;
    // A full socket would lose the packet. The supervisor reads at once, and the next deadline
    // replaces a lost one. read() reports a supervisor that has died.
    ::send(socket_, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace latchkey::cli
