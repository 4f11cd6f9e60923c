#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/recursive_mutex.hpp>
#include <latchkey/shared_mutex.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey::test {
namespace {

using testing::ensemble;

/// A program that forks while another of its threads is inside a call. That one allocates nothing,
/// for sanitizers' allocators may be locked in the child.
class ForkedGuards : public ::testing::Test {
protected:
    /// `busy` spends its time inside the object; `call` has to be refused in each child.
    static void expect_refused_in_children(const std::function<void()>& busy,
                                           const std::function<void()>& call) {
        std::atomic<bool> stop{false};
        const std::jthread inside([&] {
            while (!stop) {
                busy();
            }
        });
        for (int i = 0; i < 30; ++i) {
            const pid_t child = ::fork();
            ASSERT_GE(child, 0);
            if (child == 0) {
                ::alarm(600);
                try {
                    call();
                } catch (const error& e) {
                    ::_exit(e.code() == errc::forked ? 0 : 1);
                }
                ::_exit(2);
            }
            int status = 0;
            ASSERT_EQ(::waitpid(child, &status, 0), child);
            EXPECT_EQ(status, 0) << "killed by the alarm: it hung";
            if (status != 0) {
                break;
            }
        }
        stop = true;
    }

    ensemble ensemble_;
    client c_ = ensemble_.connect();
};

TEST_F(ForkedGuards, OfAMutexKeepNoChildWaiting) {
    mutex m(c_, "/lock");
    m.lock();
    const auto busy = [&] { static_cast<void>(m.held()); };
    expect_refused_in_children(busy, [&] { m.lock(); });
    expect_refused_in_children(busy, busy);
    m.unlock();
}

TEST_F(ForkedGuards, OfATokenKeepNoChildWaitingAndGiveItNoNumber) {
    mutex m(c_, "/lock", {.retain_for = std::chrono::hours(1)});
    m.acquire().release();
    const hold counted = m.acquire();
    const auto number = counted.token().turn;
    EXPECT_GT(number, 0U);
    const auto busy = [&] { static_cast<void>(counted.token()); };
    expect_refused_in_children(busy, [&] {
        if (counted.token().turn == number) {
            throw error(errc::forked, "as it has to be");
        }
    });
}

TEST_F(ForkedGuards, OfATurnNumberNone) {
    mutex m(c_, "/lock", {.retain_for = std::chrono::hours(1)});
    m.acquire().release();
    const hold uncounted = m.acquire();
    expect_refused_in_children([] {},
                               [&] {
                                   if (uncounted.token().turn == 0) {
                                       throw error(errc::forked, "as it has to be");
                                   }
                               });
    EXPECT_EQ(uncounted.token().turn, 1U);
}

TEST_F(ForkedGuards, OfARecursiveMutexKeepNoChildWaiting) {
    recursive_mutex m(c_, "/lock");
    const auto busy = [&] { static_cast<void>(m.depth()); };
    expect_refused_in_children(busy, [&] { m.lock(); });
    expect_refused_in_children(busy, [&] {
        if (m.depth() == 0) {
            static_cast<void>(m.held());
        }
    });
}

TEST_F(ForkedGuards, OfASharedMutexKeepNoChildWaiting) {
    shared_mutex m(c_, "/lock");
    m.lock();
    const auto busy = [&] { static_cast<void>(m.held()); };
    expect_refused_in_children(busy, [&] { m.lock(); });
    expect_refused_in_children(busy, [&] { m.unlock_and_lock_shared(); });
    expect_refused_in_children(busy, [&] { static_cast<void>(m.try_unlock_shared_and_lock()); });
    m.unlock();
}

}  // namespace
}  // namespace latchkey::test
