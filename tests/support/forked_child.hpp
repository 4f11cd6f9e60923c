#pragma once

#include <array>
#include <functional>

#include <gtest/gtest.h>
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

/// A forked child, which has all descriptors of its parent, and lives for as long as this object.
class living_child {
public:
    living_child() {
        EXPECT_EQ(::pipe(life_.data()), 0);
        child_ = ::fork();
        EXPECT_GE(child_, 0);
        if (child_ == 0) {
            char end = 0;
            ::close(life_[1]);
            ::_exit(::read(life_[0], &end, 1) == 0 ? 0 : 1);
        }
    }

    living_child(const living_child&) = delete;
    living_child& operator=(const living_child&) = delete;

    ~living_child() {
        ::close(life_[0]);
        ::close(life_[1]);
        EXPECT_EQ(::waitpid(child_, nullptr, 0), child_);
    }

private:
    std::array<int, 2> life_{};
    pid_t child_ = -1;
};

}  // namespace latchkey::test
