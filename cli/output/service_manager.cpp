#include "output/service_manager.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr const char* notify_variable = "NOTIFY_SOCKET";

struct notify_socket {
    int fd = -1;
    sockaddr_un address{};
    socklen_t size = 0;
};

notify_socket& manager() {
    static notify_socket one;
    return one;
}

/// An abstract address begins with "@", any other with "/".
bool set_address(notify_socket& to, std::string_view name) {
    if (name.size() < 2 || name.size() >= sizeof to.address.sun_path ||
        (name.front() != '/' && name.front() != '@')) {
        return false;
    }
    to.address.sun_family = AF_UNIX;
    std::memcpy(to.address.sun_path, name.data(), name.size());
    if (name.front() == '@') {
        to.address.sun_path[0] = '\0';
    }
    to.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    return true;
}

}  // namespace

void find_service_manager() {
    const char* name = std::getenv(notify_variable);
    if (name == nullptr) {
        return;
    }
    notify_socket& to = manager();
    if (set_address(to, name)) {
        to.fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        const timeval most{.tv_sec = 0, .tv_usec = 100'000};  // heartbeats of the lock go on
        ::setsockopt(to.fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    }
    ::unsetenv(notify_variable);
}

void tell_service_manager(std::string_view event, const std::string& text) {
    constexpr std::array<std::string_view, 9> told{"connecting",
                                                   "waiting",
                                                   "acquired",
                                                   "elected",
                                                   "released",
                                                   "resigned",
                                                   "wanted",
                                                   "ended",
                                                   "error"};
    const notify_socket& to = manager();
    if (to.fd < 0 || std::find(told.begin(), told.end(), event) == told.end()) {
        return;
    }
    const bool ready = event == "acquired" || event == "elected";
    const std::string message = (ready ? "READY=1\nSTATUS=" : "STATUS=") + text;
    static_cast<void>(::sendto(to.fd,
                               message.data(),
                               message.size(),
                               MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&to.address),
                               to.size));
}

}  // namespace latchkey::cli
