// What the children of a holder inherit: nothing that could hold, release or keep alive its lock.
#include "contest.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

class Child : public ::testing::Test {
protected:
    /// Runs `f()` in a forked child; its result is the child's exit status.
    template <class F>
    static int status_of_child(F f) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(f());
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
    }

    std::string servers_ = real_ensemble::shared().connect_string();
};

TEST_F(Child, OfAForkHasNothingAndContendsWithAClientOfItsOwn) {
    contest c({.holders_servers = servers_, .other_servers = servers_, .session_timeout = 20s});
    const int status = status_of_child([&] {
        if (c.first().valid() || c.first().why_lost() != loss_reason::forked) {
            return 1;
        }
        if (c.write(c.first(), "by the child") != errc::forked) {
            return 2;
        }
        c.first().release();
        client own = client::connect(servers_);
        if (!own.wait_connected(30s)) {
            return 3;
        }
        catch_up(own);
        if (mutex(own, c.path()).try_acquire()) {
            return 4;
        }
        return mutex(own, c.path()).participants().size() == 2 ? 0 : 5;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(c.effect(), "");
    EXPECT_FALSE(c.write(c.first(), "by the parent"));
    c.expect_kept();
}

/// How many sockets a program has that this one runs, inherited from here.
int sockets_of_a_program() {
    FILE* list = ::popen("ls -l /proc/self/fd", "r");
    int count = 0;
    std::array<char, 512> line{};
    while (std::fgets(line.data(), static_cast<int>(line.size()), list) != nullptr) {
        count += std::string(line.data()).find("socket:") != std::string::npos ? 1 : 0;
    }
    ::pclose(list);
    return count;
}

TEST_F(Child, ThatRunsAProgramInheritsNoConnection) {
    const int before = sockets_of_a_program();
    const contest c(
        {.holders_servers = servers_, .other_servers = servers_, .session_timeout = 20s});
    EXPECT_EQ(sockets_of_a_program(), before);
}

}  // namespace
}  // namespace latchkey::test
