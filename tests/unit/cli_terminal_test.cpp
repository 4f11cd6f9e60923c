#include "cli_supervisor_fixture.hpp"

#include <csignal>
#include <functional>

#include <pty.h>
#include <sys/wait.h>

namespace latchkey::cli {

namespace {

/// Runs `body` in a process that has a terminal of its own as stdin, stdout and stderr, and is in
/// its foreground. `user` acts at the other end of the terminal. Returns the exit status.
class SupervisorOnATerminal : public supervisor_fixture {
protected:
    int on_terminal(const std::function<int()>& body, const std::function<void(int)>& user) const {
        int terminal = -1;
        const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
        if (pid == 0) {
            arriving_.restore();
            ::_exit(body());
        }
        user(terminal);
        int status = 0;
        EXPECT_TRUE(eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }));
        ::close(terminal);
        return exit_status::of_command(status);
    }

    static int run_to_end(const std::string& script) {
        const signals arriving;
        supervisor s(shell(script), arriving);
        run(s);
        auto report = next(s);
        bool refused_to_suspend = false;
        while (report.what == kind::started || report.what == kind::not_suspended) {
            refused_to_suspend |= report.what == kind::not_suspended;
            report = next(s);
        }
        const bool mine_again = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
        return !mine_again
                   ? 200
                   : exit_status::of_command(report.number) + (refused_to_suspend ? 100 : 0);
    }

    // Fields 5 and 8: the process group, and the terminal's foreground group.
    static constexpr const char* exit_0_in_foreground = "set -- $(cat /proc/$$/stat); test $5 = $8";
};

TEST_F(SupervisorOnATerminal, CommandIsInTheForegroundAndLatchkeyAfterIt) {
    EXPECT_EQ(on_terminal([] { return run_to_end(exit_0_in_foreground); }, [](int) {}), 0);
}

TEST_F(SupervisorOnATerminal, CommandReadsWhatIsTyped) {
    const auto user = [](int terminal) { EXPECT_EQ(::write(terminal, "hello\n", 6), 6); };
    EXPECT_EQ(on_terminal([] { return run_to_end("read line; test \"$line\" = hello"); }, user), 0);
}

TEST_F(SupervisorOnATerminal, InterruptKeyEndsTheCommand) {
    const auto user = [this](int terminal) {
        ASSERT_TRUE(eventually([&] { return exists("ready"); }));
        EXPECT_EQ(::write(terminal, "\x03", 1), 1);
    };
    const auto script = "echo >$DIR/ready; exec sleep 1000";
    EXPECT_EQ(on_terminal([&] { return run_to_end(script); }, user), 128 + SIGINT);
}

TEST_F(SupervisorOnATerminal, SuspendKeyDoesNotSuspendTheCommand) {
    const auto user = [this](int terminal) {
        ASSERT_TRUE(eventually([&] { return exists("ready"); }));
        EXPECT_EQ(::write(terminal, "\x1a", 1), 1);
    };
    const auto script = "trap 'exit 7' CONT; echo >$DIR/ready; read line";
    EXPECT_EQ(on_terminal([&] { return run_to_end(script); }, user), 107);
}

TEST_F(SupervisorOnATerminal, InAPipelineTheCommandGetsTheTerminalWhenItAsks) {
    const auto user = [](int terminal) { EXPECT_EQ(::write(terminal, "hello\n", 6), 6); };
    const auto body = [] {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        ::dup2(ends[1], STDOUT_FILENO);
        return run_to_end(std::string("if ") + exit_0_in_foreground +
                          "; then exit 1; fi; read line; " + exit_0_in_foreground +
                          " && test \"$1\" = $$");
    };
    EXPECT_EQ(on_terminal(body, user), 0);
}

}  // namespace

}  // namespace latchkey::cli
