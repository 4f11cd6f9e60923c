#include "output/terminal.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

bool is_pipe(int fd) {
    struct stat status {};

    return ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

terminal::terminal() noexcept
    : home_(::getpgrp()), give_at_start_(!is_pipe(STDOUT_FILENO) && !is_pipe(STDERR_FILENO)) {}

bool terminal::give_to(pid_t group) const noexcept {
    return belongs_to(home_) && ::tcsetpgrp(STDIN_FILENO, group) == 0;
}

void terminal::take_back_from(pid_t group) const noexcept {
    if (belongs_to(group)) {
        ::tcsetpgrp(STDIN_FILENO, home_);
    }
}

bool terminal::belongs_to(pid_t group) const noexcept {
    return ::tcgetpgrp(STDIN_FILENO) == group;
}

}  // namespace latchkey::cli
