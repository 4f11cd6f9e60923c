#include "network.hpp"

#include <chrono>
#include <cstring>

#include <sys/socket.h>
#include <time.h>

// What the copy of the C client calls in place of the functions of these names.
extern "C" {
int latchkey_simulated_socket(int, int, int);
int latchkey_simulated_connect(int socket, const void* address, unsigned);
int latchkey_simulated_getsockopt(int socket, int level, int name, void* value, socklen_t* size);

// What the linker calls in the library, where it asks servers of its own accord.
// NOLINTBEGIN(bugprone-reserved-identifier): so --wrap calls them
int __real_socket(int domain, int type, int protocol);

int __wrap_socket(int domain, int type, int protocol) {
    return domain == AF_INET ? latchkey_simulated_socket(domain, type, protocol)
                             : __real_socket(domain, type, protocol);
}

int __wrap_connect(int socket, const void* address, unsigned size) {
    return latchkey_simulated_connect(socket, address, size);
}

int __wrap_getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
    return latchkey_simulated_getsockopt(socket, level, name, value, size);
}

int __real_getsockopt(int socket, int level, int name, void* value, socklen_t* size);

// NOLINTEND(bugprone-reserved-identifier)

int latchkey_simulated_socket(int, int, int) {
    return latchkey::test::network::present().open_socket();
}

int latchkey_simulated_connect(int socket, const void* address, unsigned) {
    return latchkey::test::network::present().connect(socket, address);
}

int latchkey_simulated_getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
    if (level != SOL_SOCKET || name != SO_ERROR) {
        return __real_getsockopt(socket, level, name, value, size);
    }
    const int error = latchkey::test::network::present().error_of(socket);
    std::memcpy(value, &error, sizeof error);
    return 0;
}

int latchkey_simulated_clock_gettime(clockid_t, timespec* to) {
    const auto now = latchkey::test::network::present().now();
    const auto whole = std::chrono::floor<std::chrono::seconds>(now);
    to->tv_sec = whole.count();
    to->tv_nsec = (now - whole).count();
    return 0;
}
}
