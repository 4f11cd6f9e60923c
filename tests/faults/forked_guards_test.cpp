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

    /// What the child has to get instead of a value that is the parent's.
    static void refuse_if(bool refused) {
        if (refused) {
            throw error(errc::forked, "as it has to be");
        }
    }

    ensemble ensemble_;
    client c_ = ensemble_.connect();
};

TEST_F(ForkedGuards, OfATokenKeepNoChildWaitingAndGiveItNoNumber) {
    mutex m(c_, "/lock", {.retain_for = std::chrono::hours(1)});
    m.acquire().release();
    const hold h = m.acquire();
    // The parent's first look gives it its number.
    expect_refused_in_children([] {}, [&] { refuse_if(h.token().turn == 0); });
    const auto number = h.token().turn;
    EXPECT_EQ(number, 1U);
    const auto busy = [&] { static_cast<void>(h.token()); };
    expect_refused_in_children(busy, [&] { refuse_if(h.token().turn == number); });
}

TEST_F(ForkedGuards, OfLocksKeepNoChildWaiting) {
    mutex m(c_, "/mutex");
    m.lock();
    const auto in_mutex = [&] { static_cast<void>(m.held()); };
    expect_refused_in_children(in_mutex, [&] { m.lock(); });
    expect_refused_in_children(in_mutex, in_mutex);

    recursive_mutex again(c_, "/recursive");
    const auto in_recursive = [&] { static_cast<void>(again.depth()); };
    expect_refused_in_children(in_recursive, [&] { again.lock(); });
    expect_refused_in_children(in_recursive, [&] {
        if (again.depth() == 0) {
            static_cast<void>(again.held());
        }
    });

    shared_mutex rw(c_, "/shared");
    rw.lock();
    const auto in_shared = [&] { static_cast<void>(rw.held()); };
    expect_refused_in_children(in_shared, [&] { rw.lock(); });
    expect_refused_in_children(in_shared, [&] { rw.unlock_and_lock_shared(); });
    expect_refused_in_children(in_shared,
                               [&] { static_cast<void>(rw.try_unlock_shared_and_lock()); });
}

}  // namespace
}  // namespace latchkey::test
