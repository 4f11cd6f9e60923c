// The process of a holder with a guardian is killed and stopped, or its guardian is.
// LATCHKEY_FAILOVERS=200 makes better figures.
#include "cli_folder.hpp"
#include "contest.hpp"
#include "eventually.hpp"
#include "holder_process.hpp"
#include "real_ensemble.hpp"
#include "takeover_times.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

const std::string guardian_program = LATCHKEY_GUARDIAN;

/// A guardian that only this test has, so that it can be found.
class lone_guardian {
public:
    lone_guardian() : program_(folder_.path() / "guardian") {
        std::filesystem::copy_file(guardian_program, program_);
    }

    [[nodiscard]] std::string program() const { return program_.string(); }

    /// Returns whether it is there.
    bool send(int signal) const {
        bool sent = false;
        for (const pid_t one : processes()) {
            sent = ::kill(one, signal) == 0 || sent;
        }
        return sent;
    }

    [[nodiscard]] std::vector<pid_t> processes() const {
        std::vector<pid_t> all;
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code unreadable;
            const auto number = entry.path().filename().string();
            if (number.find_first_not_of("0123456789") == std::string::npos &&
                std::filesystem::read_symlink(entry.path() / "exe", unreadable) == program_) {
                all.push_back(static_cast<pid_t>(std::stol(number)));
            }
        }
        return all;
    }

private:
    temporary_folder folder_;
    const std::filesystem::path program_;
};

/// A control group whose processes may use so much memory together; when they need more, the kernel
/// kills one of them. Only root can make one.
class memory_group {
public:
    explicit memory_group(long bytes) {
        for (const auto& [parent, limit] :
             {std::pair("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
              std::pair("/sys/fs/cgroup", "memory.max")}) {
            std::error_code failed;
            const std::filesystem::path folder =
                std::filesystem::path(parent) / ("latchkey-" + std::to_string(::getpid()));
            if (std::filesystem::create_directory(folder, failed)) {
                folder_ = folder;
                if (std::ofstream(folder / limit) << bytes << std::flush) {
                    return;
                }
                ::rmdir(folder.c_str());
                folder_.clear();
            }
        }
    }

    memory_group(const memory_group&) = delete;
    memory_group& operator=(const memory_group&) = delete;

    ~memory_group() {
        if (is_there()) {
            // Those that were killed are in it until they have ended.
            EXPECT_TRUE(eventually([&] { return ::rmdir(folder_.c_str()) == 0; }));
        }
    }

    [[nodiscard]] bool is_there() const { return !folder_.empty(); }

    void take(pid_t process) const {
        std::ofstream to(folder_ / "cgroup.procs");
        to << process << std::flush;
        ASSERT_TRUE(to) << process;
    }

private:
    std::filesystem::path folder_;
};

class GuardedProcess : public ::testing::Test {
protected:
    [[nodiscard]] holder_order guarded(milliseconds timeout = 30s,
                                       const std::string& guardian = guardian_program) const {
        return {
            .servers = address_, .path = path_, .session_timeout = timeout, .guardian = guardian};
    }

    const real_ensemble& servers_ = real_ensemble::shared();
    std::string path_ = real_ensemble::fresh_path() + "/lock";
    const std::string address_ = servers_.connect_string();
};

TEST_F(GuardedProcess, KilledIsFollowedAtOnce) {
    durations times;
    competitor next(address_, path_, 30s);
    for (int round = rounds(5); round > 0; --round) {
        holder_process holder(guarded());
        next.join();
        holder.send(round % 2 == 0 ? SIGABRT : SIGKILL);
        const auto killed = boottime_clock::now();
        ASSERT_TRUE(eventually([&] { return next.has(); }));
        EXPECT_TRUE(next.valid());
        EXPECT_LT(holder.token(), next.token());
        times.push_back(next.granted_at() - killed);
        next.release();
    }
    report_all("kill_to_grant_guarded", times);
    EXPECT_LT(worst(times), 30s) << "its session would have ended";
}

TEST_F(GuardedProcess, KilledKeepsItsHoldWhileAChildOfItLives) {
    competitor next(address_, path_, 30s);
    for (int round = rounds(5); round > 0; --round) {
        holder_process holder(guarded());
        holder.say("fork");
        const auto child = static_cast<pid_t>(std::stol(holder.answer()));
        next.join();
        holder.send(SIGKILL);
        // Longer than a guardian takes; each round a little differently.
        EXPECT_FALSE(eventually([&] { return next.has(); }, 20ms + milliseconds(round % 20)));
        const auto killed = boottime_clock::now();
        ::kill(child, SIGKILL);
        ASSERT_TRUE(eventually([&] { return next.has(); }));
        EXPECT_GE(next.granted_at(), killed);
        next.release();
    }
}

TEST_F(GuardedProcess, KilledAfterItsGuardianIsFollowedWhenItsSessionEnds) {
    const lone_guardian guardian;
    competitor next(address_, path_, 30s);
    holder_process holder(guarded(4s, guardian.program()));
    next.join();
    ASSERT_TRUE(guardian.send(SIGKILL));
    holder.send(SIGKILL);
    EXPECT_FALSE(eventually([&] { return next.has(); }, 1s));
    EXPECT_TRUE(eventually([&] { return next.has(); }));
}

TEST_F(GuardedProcess, KilledWhileItsGuardianIsStoppedIsFollowedWhenItsSessionEnds) {
    const lone_guardian guardian;
    competitor next(address_, path_, 30s);
    holder_process holder(guarded(4s, guardian.program()));
    next.join();
    ASSERT_TRUE(guardian.send(SIGSTOP));
    holder.send(SIGKILL);
    EXPECT_TRUE(eventually([&] { return next.has(); }));
    ASSERT_TRUE(guardian.send(SIGCONT));
    EXPECT_TRUE(eventually([&] { return !guardian.send(0); })) << "there is nothing to end";
    EXPECT_TRUE(next.valid());
}

TEST_F(GuardedProcess, StoppedKeepsItsHold) {
    const lone_guardian guardian;
    competitor next(address_, path_, 30s);
    holder_process holder(guarded(40s, guardian.program()));
    next.join();
    holder.send(SIGSTOP);
    EXPECT_FALSE(eventually([&] { return next.has(); }, 1s));
    holder.send(SIGCONT);
    holder.say("look");
    EXPECT_EQ(holder.answer(), "valid");
    holder.say("release");
    EXPECT_EQ(holder.answer(), "released");
    EXPECT_TRUE(eventually([&] { return next.has(); }));
}

TEST_F(GuardedProcess, KilledByTheKernelForItsMemoryIsFollowedAtOnce) {
    competitor next(address_, path_, 30s);
    durations times;
    for (int round = rounds(2); round > 0; --round) {
        const lone_guardian guardian;
        holder_process holder(guarded(30s, guardian.program()));
        next.join();
        const memory_group group(100'000'000);
        if (!group.is_there()) {
            GTEST_SKIP() << "a control group for memory cannot be made here";
        }
        group.take(holder.pid());
        for (const pid_t one : guardian.processes()) {
            group.take(one);
        }
        holder.say("eat");
        const auto told = boottime_clock::now();
        ASSERT_TRUE(eventually([&] { return next.has(); }));
        times.push_back(next.granted_at() - told);
        next.release();
    }
    report_all("out_of_memory_to_grant_guarded", times);
    EXPECT_LT(worst(times), 30s) << "its session would have ended";
}

}  // namespace
}  // namespace latchkey::test
