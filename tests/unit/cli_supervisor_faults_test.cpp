#include "cli_supervisor_fixture.hpp"
#include "refused_system_calls.hpp"
#include "sanitized.hpp"
#include "supervisor/process_tree.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

// The system refuses the usual ways to find and signal processes.

namespace latchkey::test {

namespace {

/// `main` in its group; `parent`, which left the group and survives TERM; and its child `deep`.
class SupervisorFaults : public supervisor_fixture {
protected:
    SupervisorFaults() {
        folder_.write("deep",
                      "trap 'echo >$DIR/term; exit' TERM; echo $$ >$DIR/deep.pid; "
                      "while :; do sleep 0.01; done");
        folder_.write("parent",
                      "trap : TERM; sh $DIR/deep & echo $$ >$DIR/parent.pid; "
                      "while :; do sleep 0.01; done");
    }

    static constexpr const char* family_ = "setsid sh $DIR/parent & exec sleep 1000";

    bool family_runs() const {
        return folder_.eventually_has("deep.pid") && folder_.eventually_has("parent.pid");
    }

    static void take_descriptors(const supervisor& s) {
        const rlimit none{0, 0};
        EXPECT_EQ(::prlimit(s.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
    }
};

// ---- signals ----

class WherePidfdsAreRefused : public SupervisorFaults,
                              public ::testing::WithParamInterface<std::tuple<int, int>> {};

TEST_P(WherePidfdsAreRefused, EveryDescendantIsSignalled) {
    const auto [call, error] = GetParam();
    EXPECT_EQ(0, in_another_process([&, call = call, error = error] {
                  if (!refuse_system_calls({call}, error)) {
                      return 1;
                  }
                  running s(*this, family_, 2h, 1h);
                  if (!family_runs()) {
                      return 2;
                  }
                  s.move_deadline(boottime_clock::now() + 30min);
                  if (!eventually([&] { return folder_.has("term"); }, 10s)) {
                      ::_exit(3);  // a return would wait for what is never killed
                  }
                  s.end_now();
                  return s.ends_by_loss() ? 0 : 4;
              }));
    EXPECT_THAT(survivors(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Supervisor,
                         WherePidfdsAreRefused,
                         ::testing::Combine(::testing::Values(SYS_pidfd_open,
                                                              SYS_pidfd_send_signal),
                                            ::testing::Values(EPERM, ENOSYS, EMFILE)));

TEST_F(SupervisorFaults, ProcessesThatSurviveAreReported) {
    EXPECT_EQ(
        0, in_another_process([&] {
            if (!refuse_system_calls({SYS_kill, SYS_pidfd_open, SYS_pidfd_send_signal}, EPERM)) {
                return 1;
            }
            running s(*this, "echo >$DIR/ready; while ! [ -e $DIR/go ]; do sleep 0.01; done");
            if (!folder_.eventually_has("ready")) {
                return 2;
            }
            take_descriptors(s);
            s.end_now();
            const bool reported =
                s.next().what == kind::terminating && s.next().what == kind::cannot_kill;
            folder_.write("go");
            if (!reported) {
                ::_exit(3);
            }
            return s.next().what == kind::ended_by_loss ? 0 : 4;
        }));
}

TEST_F(SupervisorFaults, ProcessesThatSurviveTheCommandAreWaitedFor) {
    EXPECT_EQ(
        0, in_another_process([&] {
            if (!refuse_system_calls({SYS_kill, SYS_pidfd_open, SYS_pidfd_send_signal}, EPERM)) {
                return 1;
            }
            running s(*this,
                      "until [ -e $DIR/end ]; do sleep 0.01; done & "
                      "until [ -e $DIR/go ]; do sleep 0.01; done");
            s.end_now();
            const bool begins = s.next().what == kind::terminating;
            folder_.write("go");
            const bool waits = eventually([&] { return state_of(s.command) == '\0'; }) &&
                               s.next().what == kind::cannot_kill;
            folder_.write("end");
            return begins && waits && s.next().what == kind::ended_by_loss ? 0 : 2;
        }));
}

// ---- /proc ----

TEST_F(SupervisorFaults, WithoutFileDescriptorsAllIsKilled) {
    running s(*this, family_);
    ASSERT_TRUE(family_runs());
    take_descriptors(s);
    s.end_now();
    EXPECT_TRUE(s.ends_by_loss());
    EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(SupervisorFaults, WithoutProcAllIsKilled) {
    constexpr int no_privilege = 99;
    const int outcome = in_another_process([&] {
        if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
            return no_privilege;
        }
        if (!sees_descendants()) {
            return 1;
        }
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
            return no_privilege;
        }
        if (sees_descendants()) {
            return 2;
        }
        running s(*this, family_);
        if (!family_runs()) {
            return 3;
        }
        s.end_now();
        if (!s.ends_by_loss()) {
            ::_exit(4);
        }
        return 0;
    });
    if (outcome == no_privilege) {
        GTEST_SKIP() << "may not hide /proc from a process";
    }
    EXPECT_EQ(outcome, 0);
    EXPECT_THAT(survivors(), IsEmpty());
}

TEST_F(SupervisorFaults, ProcessesOfOthersAreNotLookedAt) {
    const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const auto own = "/proc/" + std::to_string(::getpid()) + "/stat";
    ASSERT_GE(::inotify_add_watch(watch, own.c_str(), IN_OPEN), 0);
    const auto looked_at = [&] {
        inotify_event event{};
        return ::read(watch, &event, sizeof event) > 0;
    };
    {
        running s(*this, family_);
        ASSERT_TRUE(family_runs());
        s.end_now();
        EXPECT_TRUE(s.ends_by_loss());
    }
    EXPECT_FALSE(looked_at());
    static_cast<void>(dead(::getpid()));
    EXPECT_TRUE(looked_at()) << "otherwise this test shows nothing";
    ::close(watch);
}

TEST_F(SupervisorFaults, ChildrenOfEveryThreadAreFound) {
    EXPECT_EQ(SIGUSR1, in_another_process([] {
                  const pid_t parent = ::fork();
                  if (parent == 0) {
                      int status = 0;
                      std::thread([&] {
                          std::signal(SIGUSR1, SIG_IGN);
                          const pid_t deep = ::fork();
                          if (deep == 0) {
                              std::signal(SIGUSR1, SIG_DFL);
                              for (;;) {
                                  ::pause();
                              }
                          }
                          ::waitpid(deep, &status, 0);
                      }).join();
                      ::_exit(WTERMSIG(status));
                  }
                  int status = 0;
                  while (::waitpid(parent, &status, WNOHANG) == 0) {
                      ::poll(nullptr, 0, 10);
                      if (signal_descendants(0) == 2) {
                          signal_descendants(SIGUSR1);
                      }
                  }
                  return WEXITSTATUS(status);
              }));
}

// ---- order ----

/// Traces a process and stops it when it calls waitpid() for any child. Stops its first new child
/// when that begins.
class held_before_reaping {
public:
    explicit held_before_reaping(pid_t pid) : pid_(pid) {
        constexpr long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD;
        holds_ = ::ptrace(PTRACE_SEIZE, pid, 0L, options) == 0 &&
                 ::ptrace(PTRACE_INTERRUPT, pid, 0L, 0L) == 0 &&
                 ::waitpid(pid, nullptr, __WALL) == pid;
    }

    [[nodiscard]] bool holds() const { return holds_; }

    /// The new child; 0 if there was none.
    [[nodiscard]] pid_t go_on() const {
        pid_t child = 0;
        int status = 0;
        long signal = 0;  // the signal that stopped it, to be delivered
        while (::ptrace(PTRACE_SYSCALL, pid_, 0L, signal) == 0 &&
               ::waitpid(pid_, &status, __WALL) == pid_ && WIFSTOPPED(status)) {
            const int by = WSTOPSIG(status);
            signal = status >> 16 == 0 && (by & ~0x80) != SIGTRAP ? by : 0;
            if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8)) {
                unsigned long number = 0;
                ::ptrace(PTRACE_GETEVENTMSG, pid_, 0L, &number);
                child = static_cast<pid_t>(number);
            } else if (child != 0 && begins_to_reap()) {
                return child;
            }
        }
        return 0;
    }

    static void let_go(pid_t pid) { ::ptrace(PTRACE_DETACH, pid, 0L, 0L); }

    static void let_go_new(pid_t child) {
        EXPECT_EQ(::waitpid(child, nullptr, __WALL), child);
        let_go(child);
    }

private:
    [[nodiscard]] bool begins_to_reap() const {
        __ptrace_syscall_info info{};
        ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info);
        return info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_wait4 &&
               static_cast<int>(info.entry.args[0]) == -1;
    }

    pid_t pid_;
    bool holds_ = false;
};

TEST_F(SupervisorFaults, CommandThatCannotRunLeavesNoEndForTheNext) {
    if (thread_sanitized) {
        GTEST_SKIP() << "the thread sanitizer's own thread is in the way of tracing";
    }
    reporting_supervisor s({"/nonexistent/command"}, arriving_);
    const held_before_reaping hold(s.pid());
    if (!hold.holds()) {
        GTEST_SKIP() << "may not trace a child: " << std::strerror(errno);
    }
    s.run();
    const pid_t first = hold.go_on();
    ASSERT_NE(first, 0);
    hold.let_go_new(first);
    ASSERT_TRUE(eventually([&] { return dead(first); }));
    s.run();
    const pid_t second = hold.go_on();
    ASSERT_NE(second, 0);
    hold.let_go(s.pid());
    EXPECT_EQ(s.next().what, kind::not_started);
    ASSERT_TRUE(eventually([&] { return state_of(s.pid()) == 'S'; }));
    hold.let_go_new(second);
    EXPECT_EQ(s.next().what, kind::not_started) << "the first one's end is taken for its own";
}

}  // namespace

}  // namespace latchkey::test
