#include "cli_supervisor_fixture.hpp"

#include <csignal>
#include <functional>
#include <string>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

namespace {

/// Runs `body` in a process that has a terminal of its own as stdin, stdout and stderr, and is in
/// its foreground. `keys` are typed at the other end of the terminal when the file "ready" is
/// there. Returns the exit status.
class SupervisorOnATerminal : public supervisor_fixture {
protected:
    int on_terminal(const std::string& keys, const std::function<int()>& body) const {
        int terminal = -1;
        const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
        if (pid == 0) {
            arriving_.restore();
            ::_exit(body());
        }
        EXPECT_TRUE(folder_.eventually_has("ready"));
        EXPECT_EQ(::write(terminal, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
        int status = 0;
        EXPECT_TRUE(eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }));
        ::close(terminal);
        return exit_status::of_command(status);
    }

    static int run_to_end(const std::string& script) {
        const signals arriving;
        reporting_supervisor s(shell(script), arriving);
        s.run();
        auto report = s.next();
        bool refused_to_suspend = false;
        while (report.what == kind::started || report.what == kind::not_suspended) {
            refused_to_suspend |= report.what == kind::not_suspended;
            report = s.next();
        }
        const bool mine_again = ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
        return !mine_again
                   ? 200
                   : exit_status::of_command(report.number) + (refused_to_suspend ? 100 : 0);
    }

    int on_terminal(const std::string& keys, const std::string& script) const {
        return on_terminal(keys, [&] { return run_to_end(script); });
    }

    const std::string ready_ = "echo >$DIR/ready; ";
    // Fields 5 and 8: the process group, and the terminal's foreground group.
    const std::string in_foreground_ = "set -- $(cat /proc/$$/stat); test $5 = $8";
};

TEST_F(SupervisorOnATerminal, CommandIsInTheForegroundAndLatchkeyAfterIt) {
    EXPECT_EQ(on_terminal("", ready_ + in_foreground_), 0);
}

TEST_F(SupervisorOnATerminal, CommandReadsWhatIsTyped) {
    EXPECT_EQ(on_terminal("hello\n", ready_ + "read line; test \"$line\" = hello"), 0);
}

TEST_F(SupervisorOnATerminal, InterruptKeyEndsTheCommand) {
    EXPECT_EQ(on_terminal("\x03", ready_ + "exec sleep 1000"), 128 + SIGINT);
}

TEST_F(SupervisorOnATerminal, SuspendKeyDoesNotSuspendTheCommand) {
    EXPECT_EQ(on_terminal("\x1a", "trap 'exit 7' CONT; " + ready_ + "read line"), 107);
}

TEST_F(SupervisorOnATerminal, InAPipelineTheCommandGetsTheTerminalWhenItAsks) {
    const auto body = [this] {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        ::dup2(ends[1], STDOUT_FILENO);
        return run_to_end(ready_ + "if " + in_foreground_ + "; then exit 1; fi; read line; " +
                          in_foreground_ + " && test \"$1\" = $$");
    };
    EXPECT_EQ(on_terminal("hello\n", body), 0);
}

}  // namespace

}  // namespace latchkey::test
