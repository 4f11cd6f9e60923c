#include <latchkey/boottime_clock.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "eventually.hpp"
#include "interruption.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <boost/thread/thread.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// What happens to the process and its threads, not to the network.
class ProcessFaults : public ::testing::Test {
protected:
    ensemble ensemble_;
    client c_ = ensemble_.connect();
    mutex m_{c_, "/lock"};
    mutex twin_{c_, "/lock"};
};

std::atomic<int> signals_seen{0};

extern "C" void count_signal(int /*unused*/) {
    ++signals_seen;
}

TEST_F(ProcessFaults, SignalsDoNotEndOrShortenABlockedAcquire) {
    struct sigaction handler {};

    handler.sa_handler = count_signal;  // no SA_RESTART: every call may end with EINTR

    struct sigaction before {};

    ASSERT_EQ(::sigaction(SIGUSR1, &handler, &before), 0);
    hold h = m_.acquire();
    std::atomic<bool> granted{false};
    std::thread waiter([&] {
        const hold g = twin_.acquire();
        granted = g.valid();
    });
    ASSERT_TRUE(eventually([&] { return ensemble_.children("/lock").size() == 2; }));
    for (int i = 0; i < 50; ++i) {
        const int seen = signals_seen;
        ASSERT_EQ(::pthread_kill(waiter.native_handle(), SIGUSR1), 0);
        ASSERT_TRUE(eventually([&] { return signals_seen > seen; }));
    }
    EXPECT_FALSE(granted);
    h.release();
    waiter.join();
    EXPECT_TRUE(granted);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_F(ProcessFaults, SignalsToTheProcessAreNeverTakenByThreadsOfTheLibrary) {
    hold h = m_.acquire();
    const subscription listening = c_.on_change([](connection_state) {});
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigset_t before;
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &usr2, &before), 0);
    // Were it not blocked in every other thread, its default action would end the process.
    ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
    const timespec limit{30, 0};
    EXPECT_EQ(::sigtimedwait(&usr2, nullptr, &limit), SIGUSR2);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
    EXPECT_TRUE(h.valid());
}

TEST_F(ProcessFaults, SecondInterruptDoesNotBreakTheCleanUpOfTheFirst) {
    hold h = m_.acquire();
    for (int i = 0; i < 20; ++i) {
        interruptible_call waiter([this] { return twin_.acquire(); });
        ASSERT_TRUE(eventually([&] { return ensemble_.children("/lock").size() == 2; }));
        waiter.interrupt();
        waiter.interrupt();
        EXPECT_TRUE(waiter.ends_interrupted());
        EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").size() == 1; }));
    }
    EXPECT_TRUE(h.valid());
}

// ---- a machine that was suspended ----

std::chrono::nanoseconds monotonic_now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// By how much the library's clock has got ahead of one that stands still during suspend.
std::chrono::nanoseconds time_suspended() {
    return boottime_clock::now().time_since_epoch() - monotonic_now();
}

int status_of_child(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(work());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// In a time namespace where the machine seems to have been suspended for longer. Exit status 2:
/// not allowed to make one.
int status_of_suspended_child(std::chrono::seconds longer, std::chrono::nanoseconds before) {
    return status_of_child([&] {
        const std::string offset = "boottime " + std::to_string(longer.count()) + " 0";
        const bool may_unshare = ::unshare(CLONE_NEWTIME) == 0;
        const int file = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
        if (!may_unshare || ::write(file, offset.data(), offset.size()) < 0) {
            return 2;
        }
        // It is the children who live in the namespace.
        return status_of_child([&] { return time_suspended() - before > longer / 2 ? 0 : 1; });
    });
}

TEST(ProcessClock, CountsTheTimeThatTheMachineWasSuspended) {
    const int status = status_of_suspended_child(1000s, time_suspended());
    if (status == 2) {
        GTEST_SKIP() << "no right to make a time namespace";
    }
    EXPECT_EQ(status, 0);
}

// ---- the end of the process ----

/// Static objects, destroyed in the reverse order of their construction.
[[noreturn]] void exit_with_statics_the_usual_way_round() {
    static ensemble servers;
    static client c = servers.connect();
    static mutex m(c, "/lock");
    static hold h = m.acquire();
    std::exit(h.valid() ? 0 : 1);
}

[[noreturn]] void exit_with_statics_the_other_way_round() {
    static hold h;
    static std::optional<mutex> m;
    static std::optional<client> c;
    static std::optional<ensemble> servers;
    servers.emplace();
    c.emplace(servers->connect());
    m.emplace(*c, "/lock");
    h = m->acquire();
    std::exit(h.valid() ? 0 : 1);
}

[[noreturn]] void exit_with_a_call_under_way() {
    static ensemble servers;
    static client c = servers.connect();
    static mutex m(c, "/lock");
    static mutex twin(c, "/lock");
    static hold h = m.acquire();
    twin.async_acquire({}, [](std::error_code, const hold&) {});
    std::exit(h.valid() ? 0 : 1);
}

TEST(ProcessEnd, WithStaticObjectsInAnyOrderIsAnOrdinaryExit) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto well = ::testing::ExitedWithCode(0);
    EXPECT_EXIT(exit_with_statics_the_usual_way_round(), well, "");
    EXPECT_EXIT(exit_with_statics_the_other_way_round(), well, "");
    EXPECT_EXIT(exit_with_a_call_under_way(), well, "");
}

}  // namespace
}  // namespace latchkey::test
