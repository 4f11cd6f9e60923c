#pragma once

#include "eventually.hpp"
#include "exit_status.hpp"
#include "supervisor.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace latchkey::cli {

using namespace std::chrono_literals;
using kind = supervisor_report::kind;
using latchkey::test::eventually;

/// Neither running nor stopped; whether its parent has noticed does not matter.
inline bool dead(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto after_name = text.rfind(')');
    return after_name == std::string::npos || text[after_name + 2] == 'Z';
}

inline bool stopped(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto after_name = text.rfind(')');
    return after_name != std::string::npos && text[after_name + 2] == 'T';
}

/// A folder for the commands to leave traces in ($DIR), and a supervisor's usual run.
class supervisor_fixture : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "supervisorXXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        ::setenv("DIR", name.c_str(), 1);
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    static std::vector<std::string> shell(const std::string& script) {
        return {"/bin/sh", "-c", script};
    }

    bool exists(const char* name) const { return std::filesystem::exists(folder_ / name); }

    std::string content(const char* name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Waits for a line with a process id in a file.
    pid_t pid_in(const char* name) const {
        EXPECT_TRUE(eventually([&] { return content(name).find('\n') != std::string::npos; }))
            << name;
        return std::atoi(content(name).c_str());
    }

    static supervisor_report next(supervisor& s) {
        pollfd p{s.fd(), POLLIN, 0};
        EXPECT_EQ(::poll(&p, 1, 30'000), 1) << "no report";
        return s.read().value_or(supervisor_report{kind::supervisor_died, -1});
    }

    static void run(supervisor& s,
                    std::chrono::nanoseconds valid_for = 1h,
                    std::chrono::nanoseconds grace = 1s) {
        s.run({{"LATCHKEY_TOKEN", "42"}, {"LATCHKEY_PATH", "/a b"}},
              boottime_clock::now() + valid_for,
              grace);
    }

    /// A process that stands in for latchkey: runs the command, reads reports, exits with 76 if the
    /// command was ended by loss. Sends no new deadlines.
    pid_t stand_in(const std::string& script, std::chrono::nanoseconds valid_for) const {
        const pid_t pid = ::fork();
        if (pid == 0) {
            arriving_.restore();
            const signals arriving;
            supervisor s(shell(script), arriving);
            run(s, valid_for, 300ms);
            auto what = kind::started;
            while (what == kind::started || what == kind::terminating) {
                what = next(s).what;
            }
            ::_exit(what == kind::ended_by_loss ? exit_status::lock_lost : 1);
        }
        return pid;
    }

    std::filesystem::path folder_;
    const signals arriving_;
};

}  // namespace latchkey::cli
