// A service as systemd runs it, which looks at its environment as sd_watchdog_enabled(3),
// sd_notify(3) and sd_listen_fds(3) say, without their library.
//
//   unit_service pet N    tells the watchdog N times that it is well, says so, and hangs
//   unit_service listen   sends its process id to each client of the sockets that were passed to it
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

bool is_for_this_process(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && value == std::to_string(::getpid());
}

void notify(const std::string& message) {
    const std::string name = std::getenv("NOTIFY_SOCKET");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') {
        address.sun_path[0] = '\0';
    }
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto size = offsetof(sockaddr_un, sun_path) + name.size();
    ::sendto(fd,
             message.data(),
             message.size(),
             0,
             reinterpret_cast<const sockaddr*>(&address),
             static_cast<socklen_t>(size));
    ::close(fd);
}

int pet(int times) {
    const char* const interval = std::getenv("WATCHDOG_USEC");
    if (interval == nullptr || !is_for_this_process("WATCHDOG_PID")) {
        std::cout << "not watched" << std::endl;
        return 1;
    }
    notify("MAINPID=1\nREADY=1\nSTATUS=of the command");
    for (int i = 0; i < times; ++i) {
        notify("WATCHDOG=1");
        ::poll(nullptr, 0, std::atoi(interval) / 2000);
    }
    std::cout << "hangs " << ::getpid() << std::endl;
    ::pause();
    return 0;
}

int listen() {
    const char* const count = std::getenv("LISTEN_FDS");
    if (count == nullptr || !is_for_this_process("LISTEN_PID")) {
        std::cout << "nothing was passed" << std::endl;
        return 1;
    }
    std::cout << count << ' ' << std::getenv("LISTEN_FDNAMES") << std::endl;
    while (true) {
        const int client = ::accept(3, nullptr, nullptr);
        const std::string text = std::to_string(::getpid());
        if (client < 0 || ::write(client, text.data(), text.size()) < 0) {
            return 2;
        }
        ::close(client);
    }
}

}  // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "";
    return what == "pet" && count > 2 ? pet(std::atoi(words[2])) : what == "listen" ? listen() : 64;
}
