#pragma once

#include "cli_processes.hpp"
#include "cli_words.hpp"
#include "eventually.hpp"
#include "output/exit_status.hpp"
#include "supervisor/supervisor.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {

using namespace latchkey::cli;
using namespace std::chrono_literals;
using kind = supervisor_report::kind;

/// A supervisor, and what it reports.
class reporting_supervisor : public supervisor {
public:
    using supervisor::supervisor;

    void run(std::chrono::nanoseconds valid_for = 1h, std::chrono::nanoseconds grace = 1s) {
        supervisor::run({{"LATCHKEY_TOKEN", "42"}}, boottime_clock::now() + valid_for, grace);
    }

    supervisor_report next() {
        pollfd p{fd(), POLLIN, 0};
        EXPECT_EQ(::poll(&p, 1, 600'000), 1) << "no report";
        return read().value_or(supervisor_report{kind::supervisor_died, -1});
    }

    /// Whether it reports that it ends the command, and then that it has; and the status of that.
    /// On a busy machine processes take long to die, which is reported in between.
    [[nodiscard]] bool ends_by_loss(int* status = nullptr) {
        const bool begins = next().what == kind::terminating;
        auto last = next();
        if (last.what == kind::cannot_kill) {
            last = next();
        }
        if (status != nullptr) {
            *status = exit_status::of_command(last.number);
        }
        return begins && last.what == kind::ended_by_loss;
    }
};

/// A folder for the files that commands write ($DIR).
class supervisor_fixture : public ::testing::Test {
protected:
    /// A supervisor whose command, a script, runs.
    class running : public reporting_supervisor {
    public:
        running(const supervisor_fixture& f,
                const std::string& script,
                std::chrono::nanoseconds valid_for = 1h,
                std::chrono::nanoseconds grace = 1s)
            : reporting_supervisor(shell(script), f.arriving_) {
            run(valid_for, grace);
            const auto first = next();
            EXPECT_EQ(first.what, kind::started);
            command = first.number;
        }

        pid_t command = 0;
    };

    supervisor_fixture() { ::setenv("DIR", folder_.path().c_str(), 1); }

    ~supervisor_fixture() override {
        for (const pid_t left : survivors()) {
            ::kill(left, SIGKILL);
        }
    }

    static words shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

    /// Living processes that the test's commands started: they have this test's folder in their
    /// environment.
    std::vector<pid_t> survivors() const {
        const auto mark = std::string("DIR=") + folder_.path().string() + '\0';
        std::vector<pid_t> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const pid_t pid = std::atoi(entry.path().filename().c_str());
            if (pid > 0 && pid != ::getpid() &&
                content_of(entry.path() / "environ").find(mark) != std::string::npos) {
                found.push_back(pid);
            }
        }
        return found;
    }

    /// Runs `work` in a child of the test, and returns what it returns, or 128 + the signal that
    /// ended it.
    template <class Work>
    int in_another_process(Work work) const {
        const pid_t pid = ::fork();
        if (pid == 0) {
            arriving_.restore();
            ::_exit(work());
        }
        int status = 0;
        ::waitpid(pid, &status, 0);
        return exit_status::of_command(status);
    }

    const command_folder folder_;
    const signals arriving_;
};

}  // namespace latchkey::test
