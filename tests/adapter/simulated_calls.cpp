#include "network.hpp"

#include <chrono>
#include <cstring>

#include <sys/socket.h>
#include <time.h>

// What the copy of the C client calls in place of the functions of these names.
extern "C" {
int latchkey_simulated_socket(int, int, int) {
    return latchkey::test::network::present().open_socket();
}

int latchkey_simulated_connect(int socket, const void* address, unsigned) {
    return latchkey::test::network::present().connect(socket, address);
}

int latchkey_simulated_getsockopt(int socket, int level, int name, void* value, socklen_t* size) {
    if (level != SOL_SOCKET || name != SO_ERROR) {
        return ::getsockopt(socket, level, name, value, size);
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
