#include "output/process_start.hpp"

#include <initializer_list>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace latchkey::cli {

bool open_standard_descriptors() noexcept {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        // open() takes the lowest number that is free.
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) {
            return false;
        }
    }
    return true;
}

void hide_memory() noexcept {
    ::prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);  // exec() gives a command the usual value
}

}  // namespace latchkey::cli
