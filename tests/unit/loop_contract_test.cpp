// What every loop promises: the one of programs, and those of the in-process ensemble.

#include "ensemble/virtual/virtual_loop.hpp"
#include "eventually.hpp"
#include "loop/asio_loop.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using std::chrono::milliseconds;
using mode = virtual_loop::mode;

struct loop_kind {
    const char* name;
    std::function<std::shared_ptr<loop>()> make;
};

class AnyLoop : public ::testing::TestWithParam<loop_kind> {
protected:
    /// Waits, and steps the loop that does nothing by itself.
    void run_until(const std::function<bool()>& condition) {
        auto* const stepped = dynamic_cast<virtual_loop*>(l.get());
        ASSERT_TRUE(stepped != nullptr ? stepped->run_until(condition, milliseconds(60'000))
                                       : eventually(condition));
    }

    /// Runs it on the loop and waits for it.
    void on(const std::function<void()>& f) {
        std::atomic<bool> done{false};
        l->post([&] {
            f();
            done = true;
        });
        run_until([&] { return done.load(); });
    }

    std::shared_ptr<loop> l = GetParam().make();
};

TEST_P(AnyLoop, RunsTasksInTheOrderPosted) {
    std::vector<int> ran;
    for (int i = 0; i < 1000; ++i) {
        l->post([&ran, i] { ran.push_back(i); });
    }
    on([] {});
    EXPECT_EQ(ran.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST_P(AnyLoop, RunsEverythingThatManyThreadsPostOnItsOwnThread) {
    int sum = 0;  // only on the loop
    bool always_on_loop = true;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 2000; ++i) {
                    l->post([&] {
                        ++sum;
                        always_on_loop = always_on_loop && l->on_loop();
                    });
                }
            });
        }
    }
    on([] {});
    EXPECT_EQ(sum, 8000);
    EXPECT_TRUE(always_on_loop);
}

TEST_P(AnyLoop, RunsWhatATaskPostsAfterTheTask) {
    std::string order;
    std::atomic<bool> done{false};
    on([&] {
        l->post([&] {
            order += 'b';
            done = true;
        });
        order += 'a';
    });
    run_until([&] { return done.load(); });
    EXPECT_EQ(order, "ab");
}

TEST_P(AnyLoop, KnowsItsThread) {
    EXPECT_FALSE(l->on_loop());
    const auto other = GetParam().make();
    on([&] {
        EXPECT_TRUE(l->on_loop());
        EXPECT_FALSE(other->on_loop());
        std::jthread([&] { EXPECT_FALSE(l->on_loop()); }).join();
    });
    EXPECT_FALSE(l->on_loop());
}

TEST_P(AnyLoop, RunsTimersInTheOrderOfTheirTimesAndNotBeforeThem) {
    std::vector<int> ran;
    std::atomic<bool> done{false};
    on([&] {
        const auto start = l->now();
        for (const int ms : {60, 20, 40, 80, 20}) {
            l->start_timer(start + milliseconds(ms), [&, ms, start] {
                ran.push_back(ms);
                EXPECT_GE(l->now(), start + milliseconds(ms));
                done = ms == 80;
            });
        }
    });
    run_until([&] { return done.load(); });
    EXPECT_EQ(ran, (std::vector<int>{20, 20, 40, 60, 80}));
}

TEST_P(AnyLoop, RunsATimerOfThePastButNotInsideTheCall) {
    std::string order;
    std::atomic<bool> done{false};
    on([&] {
        l->start_timer({}, [&] {
            order += 'b';
            done = true;
        });
        order += 'a';
    });
    run_until([&] { return done.load(); });
    EXPECT_EQ(order, "ab");
}

TEST_P(AnyLoop, ForgetsCancelledTimersAndIgnoresOldIds) {
    std::atomic<bool> done{false};
    on([&] {
        const auto soon = l->now() + milliseconds(10);
        const auto id = l->start_timer(soon, [] { FAIL() << "it was cancelled"; });
        l->cancel_timer(id);
        l->start_timer(soon + milliseconds(20), [&] { done = true; });
        for (const loop::timer_id old : {id, loop::timer_id{0}, loop::timer_id{123456}}) {
            l->cancel_timer(old);
        }
    });
    run_until([&] { return done.load(); });
}

TEST_P(AnyLoop, DrawsAnotherRandomNumberEachTime) {
    on([&] { EXPECT_NE(l->random(), l->random()); });
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    AnyLoop,
    ::testing::Values(loop_kind{"Asio", [] { return std::make_shared<asio_loop>(); }},
                      loop_kind{"Stepped", [] { return virtual_loop::make(mode::stepped, 1); }},
                      loop_kind{"Threaded", [] { return virtual_loop::make(mode::threaded, 1); }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace latchkey::test
