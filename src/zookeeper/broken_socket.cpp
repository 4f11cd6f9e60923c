#include "zookeeper/broken_socket.hpp"

#include <cerrno>
#include <system_error>

#include <sys/socket.h>

namespace latchkey::inline v0 {

int broken_socket() {
    static const int fd = [] {
        const int s = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (s < 0) {
            throw std::system_error(errno, std::generic_category(), "socket");
        }
        return s;
    }();
    return fd;
}

}  // namespace latchkey::inline v0
