#include "loop/asio_loop.hpp"

#include "eventually.hpp"
#include "loop/fork_guard.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using test::eventually;

/// Runs `f` on the loop and waits for it.
template <class F>
auto on(loop& l, F f) {
    std::packaged_task<decltype(f())()> work(std::move(f));
    auto result = work.get_future();
    l.post([&work] { work(); });
    return result.get();
}

TEST(AsioLoop, RunsTasksInTheOrderPosted) {
    asio_loop l;
    std::vector<int> ran;
    for (int i = 0; i < 1000; ++i) {
        l.post([&ran, i] { ran.push_back(i); });
    }
    on(l, [] {});
    EXPECT_EQ(ran.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST(AsioLoop, RunsEverythingThatManyThreadsPost) {
    asio_loop l;
    int sum = 0;  // only on the loop
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 5000; ++i) {
                    l.post([&sum] { ++sum; });
                }
            });
        }
    }
    EXPECT_EQ(on(l, [&sum] { return sum; }), 20000);
}

TEST(AsioLoop, RunsWhatATaskPostsAfterTheTask) {
    asio_loop l;
    std::string order;
    std::promise<void> done;
    l.post([&] {
        l.post([&] {
            order += "b";
            done.set_value();
        });
        order += "a";
    });
    done.get_future().wait();
    EXPECT_EQ(order, "ab");
}

TEST(AsioLoop, RunsWhatIsToComeNextBehindThePostedTasksThatWait) {
    asio_loop l;
    std::string order;
    std::promise<void> done;
    on(l, [&] {  // so that the two tasks wait together
        l.post([&] {
            l.post([&] { order += 'd'; });
            l.post_next([&] {
                order += 'c';
                l.post_next([&] { order += 'e'; });  // it is no posted task itself
                l.post([&] { done.set_value(); });
            });
            order += 'a';
        });
        l.post([&] { order += 'b'; });
    });
    done.get_future().get();
    EXPECT_EQ(order, "abcde");
}

TEST(AsioLoop, KnowsItsThread) {
    asio_loop l;
    asio_loop other;
    EXPECT_FALSE(l.on_loop());
    EXPECT_TRUE(on(l, [&] { return l.on_loop() && !other.on_loop(); }));
}

TEST(AsioLoop, BlocksSignalsAndNamesItsThread) {
    asio_loop l;
    on(l, [] {
        sigset_t mask;
        ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
        for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGCHLD}) {
            EXPECT_EQ(::sigismember(&mask, signal), 1) << signal;
        }
        std::string name(16, '\0');
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        EXPECT_STREQ(name.c_str(), "latchkey");
    });
}

TEST(AsioLoop, RunsTimersInTheOrderOfTheirTimesAndNotBeforeThem) {
    asio_loop l;
    std::vector<int> ran;
    std::promise<void> done;
    bool early = false;
    on(l, [&] {
        const auto start = l.now();
        for (const int ms : {60, 20, 40, 80, 20}) {
            l.start_timer(start + milliseconds(ms), [&, ms, start] {
                ran.push_back(ms);
                early = early || l.now() < start + milliseconds(ms);
                if (ms == 80) {
                    done.set_value();
                }
            });
        }
    });
    done.get_future().wait();
    EXPECT_EQ(ran, (std::vector<int>{20, 20, 40, 60, 80}));
    EXPECT_FALSE(early);
}

TEST(AsioLoop, RunsATimerOfThePastButNotInsideTheCall) {
    asio_loop l;
    bool inside = false;  // only on the loop
    std::promise<bool> ran_inside;
    on(l, [&] {
        inside = true;
        l.start_timer({}, [&] { ran_inside.set_value(inside); });
        inside = false;
    });
    EXPECT_FALSE(ran_inside.get_future().get());
}

TEST(AsioLoop, ForgetsCancelledTimers) {
    asio_loop l;
    std::atomic<bool> wrong{false};
    std::promise<void> done;
    on(l, [&] {
        const auto id = l.start_timer(l.now() + milliseconds(10), [&] { wrong = true; });
        l.cancel_timer(id);
        l.cancel_timer(id);
        l.cancel_timer(123456);
        l.start_timer(l.now() + milliseconds(30), [&] { done.set_value(); });
    });
    done.get_future().wait();
    EXPECT_FALSE(wrong);
}

TEST(AsioLoop, TakesTimersThatNeverComeDue) {
    asio_loop l;
    std::promise<void> done;
    on(l, [&] {
        l.start_timer(loop::clock::time_point::max(), [] {});
        l.start_timer(l.now() + milliseconds(5), [&] { done.set_value(); });
    });
    EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(AsioLoop, LetsTimersInBetweenTasksThatPostForEver) {
    asio_loop l;
    std::atomic<bool> stop{false};
    std::promise<void> timer_ran;
    std::function<void()> again = [&] {
        if (!stop) {
            l.post(again);
        }
    };
    l.post(again);
    on(l, [&] { l.start_timer(l.now() + milliseconds(5), [&] { timer_ran.set_value(); }); });
    EXPECT_EQ(timer_ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    stop = true;
    on(l, [] {});
}

TEST(AsioLoop, IsRandomAndNotTheSameTwice) {
    asio_loop a;
    asio_loop b;
    EXPECT_NE(on(a, [&] { return a.random(); }), on(b, [&] { return b.random(); }));
    EXPECT_NE(on(a, [&] { return a.random(); }), on(a, [&] { return a.random(); }));
}

TEST(AsioLoop, DropsWhatHasNotRunWhenDestroyed) {
    auto token = std::make_shared<int>(0);
    {
        asio_loop l;
        std::promise<void> go;
        auto waiting = go.get_future().share();
        l.post([waiting] { waiting.wait(); });
        for (int i = 0; i < 10; ++i) {
            l.post([token, &l] { l.post([token] {}); });
        }
        on(*std::make_unique<asio_loop>(), [] {});
        go.set_value();
    }
    EXPECT_EQ(token.use_count(), 1);
}

/// Owns a timer, so its destruction needs the loop.
struct timer_owner {
    explicit timer_owner(loop& l) : t(l) {}

    timer t;
};

TEST(AsioLoop, IsStillThereForWhatItsDroppedClosuresOwn) {
    auto l = std::make_unique<asio_loop>();
    on(*l, [&] {
        auto owner = std::make_shared<timer_owner>(*l);
        owner->t.start(std::chrono::hours(1), [] {});
        l->start_timer(l->now() + std::chrono::hours(2), [owner] {});
    });
    l.reset();
}

TEST(AsioLoop, MayBeDestroyedByOneOfItsOwnTasks) {
    std::promise<void> done;
    auto token = std::make_shared<int>(0);
    auto* l = new asio_loop;
    l->post([&, l, token] {
        l->post([token] { FAIL() << "ran after the end"; });
        delete l;
        done.set_value();
    });
    done.get_future().wait();
    EXPECT_TRUE(eventually([&] { return token.use_count() == 1; }));
}

TEST(AsioLoop, IsInertInAForkedChild) {
    asio_loop l;
    on(l, [] {});
    const auto before = fork_generation();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto* inherited = &l;
        inherited->post([] {});
        std::destroy_at(inherited);
        ::_exit(fork_generation() == before ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(fork_generation(), before);
    EXPECT_EQ(on(l, [] { return 7; }), 7) << "the parent's loop goes on";
}

}  // namespace
}  // namespace latchkey
