#include "output/unit_watchdog.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

/// The user of this process, or root: anybody can send to the socket.
bool is_trusted(const msghdr& message) {
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_level != SOL_SOCKET ||
        header->cmsg_type != SCM_CREDENTIALS) {
        return false;
    }
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    return sender.uid == 0 || sender.uid == ::geteuid();
}

}  // namespace

std::optional<std::chrono::microseconds> unit_watchdog::interval_from(std::string_view text) {
    constexpr std::int64_t most = std::chrono::microseconds(std::chrono::years(10)).count();
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    const bool valid = error == std::errc() && read == end && number > 0 && number <= most;
    return valid ? std::optional(std::chrono::microseconds(number)) : std::nullopt;
}

unit_watchdog::unit_watchdog(std::chrono::microseconds interval, sender send)
    : send_(std::move(send)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    listen();
    set_interval(interval);
}

unit_watchdog::~unit_watchdog() {
    for (const int fd : descriptors()) {
        ::close(fd);
    }
}

/// The kernel chooses an abstract address, which needs no file.
void unit_watchdog::listen() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socklen_t size = sizeof address.sun_family;
    const int on = 1;
    ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size);
    ::setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    size = sizeof address;
    if (timer_ < 0 || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::system_error(errno, std::generic_category(), "watchdog");
    }
    address_.assign(address.sun_path, size - offsetof(sockaddr_un, sun_path));
    address_.replace(0, 1, "@");
}

/// Half of it, as sd_watchdog_enabled(3) recommends.
void unit_watchdog::set_interval(std::chrono::microseconds interval) const {
    using namespace std::chrono;
    const auto half = std::max<microseconds>(interval / 2, milliseconds(1));
    const auto whole = duration_cast<seconds>(half);
    const timespec every{.tv_sec = whole.count(), .tv_nsec = nanoseconds(half - whole).count()};
    const itimerspec when{.it_interval = every, .it_value = every};
    ::timerfd_settime(timer_, 0, &when, nullptr);
}

void unit_watchdog::serve() {
    std::uint64_t times = 0;
    const bool is_due = ::read(timer_, &times, sizeof times) == sizeof times;
    while (const auto message = receive()) {
        if (command_runs_) {
            pass_on(*message);
        }
    }
    if (is_due && !command_speaks_) {
        send_("WATCHDOG=1");
    }
}

void unit_watchdog::set_command_runs(bool runs) {
    serve();  // what the command has said by now
    command_runs_ = runs;
    if (!runs && std::exchange(command_speaks_, false)) {
        send_("WATCHDOG=1");
    }
}

/// Empty: of another user.
std::optional<std::string> unit_watchdog::receive() const {
    std::array<char, 4096> text{};
    // Room for the sender alone: the kernel closes descriptors that come along.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> about{};
    iovec part{text.data(), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = about.data();
    message.msg_controllen = about.size();
    const auto size = ::recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0) {
        return std::nullopt;
    }
    return is_trusted(message) ? std::string(text.data(), static_cast<std::size_t>(size))
                               : std::string();
}

/// The command speaks for itself, and not for the unit: nothing but the watchdog's lines.
void unit_watchdog::pass_on(std::string_view message) {
    constexpr std::string_view change = "WATCHDOG_USEC=";
    while (!message.empty()) {
        const auto line = message.substr(0, message.find('\n'));
        message.remove_prefix(std::min(line.size() + 1, message.size()));
        const auto interval =
            line.starts_with(change) ? interval_from(line.substr(change.size())) : std::nullopt;
        if (interval) {
            set_interval(*interval);
        }
        command_speaks_ = command_speaks_ || line == "WATCHDOG=1";
        if (interval || line == "WATCHDOG=1" || line == "WATCHDOG=trigger") {
            send_(line);
        }
    }
}

}  // namespace latchkey::cli
