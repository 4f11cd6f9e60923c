#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

/// Runs `claim` in a forked child, which ends without destructors; true if it was true there.
[[nodiscard]] inline bool holds_in_a_forked_child(const std::function<bool()>& claim) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(claim() ? 0 : 1);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

}  // namespace latchkey::test
