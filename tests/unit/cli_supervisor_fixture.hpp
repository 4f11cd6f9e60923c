#pragma once

#include "eventually.hpp"
#include "output/exit_status.hpp"
#include "supervisor/supervisor.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::cli {

using namespace std::chrono_literals;
using kind = supervisor_report::kind;
using latchkey::test::eventually;

/// The state in /proc, for example 'S' for sleeping; '\0' if there is no such process.
inline char state_of(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto after_name = text.rfind(')');
    return after_name == std::string::npos ? '\0' : text[after_name + 2];
}

/// Neither running nor stopped. It may be a zombie.
inline bool dead(pid_t pid) {
    const char state = state_of(pid);
    return state == '\0' || state == 'Z';
}

inline bool stopped(pid_t pid) {
    return state_of(pid) == 'T';
}

/// Starts a process that leaves group, session and parent at once. Only a subreaper finds it.
inline constexpr const char* with_stray_grandchild =
    "setsid sh -c '(trap \"\" TERM HUP INT; exec sh -c \"echo \\$\\$; exec sleep 1000\" "
    ">$DIR/stray) &'"
    "& echo $$ >$DIR/main; exec sleep 1000";

/// A folder for the files that commands write ($DIR), and a supervisor's usual run.
class supervisor_fixture : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "supervisorXXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        ::setenv("DIR", name.c_str(), 1);
    }

    void TearDown() override {
        for (const pid_t left : survivors()) {
            ::kill(left, SIGKILL);
        }
        std::filesystem::remove_all(folder_);
    }

    static std::vector<std::string> shell(const std::string& script) {
        return {"/bin/sh", "-c", script};
    }

    void script(const char* name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }

    bool exists(const char* name) const { return std::filesystem::exists(folder_ / name); }

    std::string content(const char* name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// A file exists before the command has written to it.
    bool has_line(const char* name) const { return content(name).find('\n') != std::string::npos; }

    /// Waits for a line with a process id in a file.
    pid_t pid_in(const char* name) const {
        EXPECT_TRUE(eventually([&] { return has_line(name); })) << name;
        return std::atoi(content(name).c_str());
    }

    /// Living processes that the test's commands started: they have this test's folder in their
    /// environment.
    std::vector<pid_t> survivors() const {
        const auto mark = std::string("DIR=") + folder_.string() + '\0';
        std::vector<pid_t> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const pid_t pid = std::atoi(entry.path().filename().c_str());
            std::ifstream file(entry.path() / "environ");
            const std::string text{std::istreambuf_iterator<char>(file), {}};
            if (pid > 0 && pid != ::getpid() && text.find(mark) != std::string::npos) {
                found.push_back(pid);
            }
        }
        return found;
    }

    /// Runs `work` in a child of the test, and returns what it returns, or 128 + the signal that
    /// ended it.
    template <class Work>
    int in_another_process(Work work) const {
        const pid_t pid = fork_to(work);
        int status = 0;
        ::waitpid(pid, &status, 0);
        return exit_status::of_command(status);
    }

    template <class Work>
    pid_t fork_to(Work work) const {
        const pid_t pid = ::fork();
        if (pid == 0) {
            arriving_.restore();
            ::_exit(work());
        }
        return pid;
    }

    static supervisor_report next(supervisor& s) {
        pollfd p{s.fd(), POLLIN, 0};
        EXPECT_EQ(::poll(&p, 1, 600'000), 1) << "no report";
        return s.read().value_or(supervisor_report{kind::supervisor_died, -1});
    }

    static void run(supervisor& s,
                    std::chrono::nanoseconds valid_for = 1h,
                    std::chrono::nanoseconds grace = 1s) {
        s.run({{"LATCHKEY_TOKEN", "42"}, {"LATCHKEY_PATH", "/a b"}},
              boottime_clock::now() + valid_for,
              grace);
    }

    /// A process in place of latchkey: runs the command, reads reports, exits with status 76 if the
    /// command was ended by loss. When the file "stop" exists, it moves the deadline to two seconds
    /// from then, and stops itself.
    pid_t stand_in(const std::string& script) const {
        return fork_to([&] {
            const signals arriving;
            supervisor s(shell(script), arriving);
            run(s);
            auto what = next(s).what;
            while (what == kind::started && !exists("stop")) {
                ::poll(nullptr, 0, 5);
            }
            s.move_deadline(boottime_clock::now() + 2s);
            std::raise(SIGSTOP);
            while (what == kind::started || what == kind::terminating) {
                what = next(s).what;
            }
            return what == kind::ended_by_loss ? exit_status::lock_lost : 1;
        });
    }

    std::filesystem::path folder_;
    const signals arriving_;
};

}  // namespace latchkey::cli
