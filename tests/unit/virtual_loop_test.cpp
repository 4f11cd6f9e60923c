#include "ensemble/virtual/virtual_loop.hpp"

#include "ensemble/virtual/virtual_process.hpp"
#include "eventually.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/thread/thread.hpp>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using latchkey::loop;
using latchkey::virtual_loop;
using latchkey::virtual_process;
using std::chrono::nanoseconds;

using mode = virtual_loop::mode;

std::string order_of_ten_timers_at_once(std::uint64_t seed) {
    const auto l = virtual_loop::make(mode::stepped, seed);
    std::string order;
    for (char c = '0'; c <= '9'; ++c) {
        l->start_timer(l->now() + 1s, [&order, c] { order += c; });
    }
    l->run_for(1s);
    return order;
}

TEST(SteppedLoop, TimePassesOnlyToTheNextEvent) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    const auto start = l->now();
    loop::clock::time_point ran;
    l->start_timer(start + 90min, [&] { ran = l->now(); });
    EXPECT_EQ(l->now(), start);
    EXPECT_TRUE(l->step());
    EXPECT_EQ(ran, start + 90min);
    EXPECT_FALSE(l->step());
}

TEST(SteppedLoop, OneSeedGivesOneOrderAndSeedsDiffer) {
    EXPECT_EQ(order_of_ten_timers_at_once(1), order_of_ten_timers_at_once(1));
    EXPECT_NE(order_of_ten_timers_at_once(1), order_of_ten_timers_at_once(2));
}

TEST(SteppedLoop, ATimerMayDestroyItself) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    auto t = std::make_unique<latchkey::timer>(*l);
    const auto data = std::make_shared<int>(7);
    int seen = 0;
    t->start(1s, [&, data] {
        t = nullptr;
        seen = *data;
    });
    l->run_for(1s);
    EXPECT_EQ(seen, 7);
}

TEST(SteppedLoop, RunUntilStopsAtTheConditionOrTheLimit) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    const auto start = l->now();
    int count = 0;
    for (int i = 1; i <= 5; ++i) {
        l->start_timer(start + std::chrono::seconds(i), [&] { ++count; });
    }
    EXPECT_TRUE(l->run_until([&] { return count == 2; }, 1h));
    EXPECT_EQ(l->now(), start + 2s);
    EXPECT_FALSE(l->run_until([&] { return count == 9; }, 1h));
    EXPECT_EQ(count, 5);
    EXPECT_EQ(l->now(), start + 2s + 1h);
}

TEST(SteppedLoop, ARandomSequenceBelongsToItsSeed) {
    const auto a = virtual_loop::make(mode::stepped, 5);
    const auto b = virtual_loop::make(mode::stepped, 5);
    const auto c = virtual_loop::make(mode::stepped, 6);
    const auto first = a->random();
    EXPECT_EQ(first, b->random());
    EXPECT_NE(first, c->random());
}

TEST(ProcessOfALoop, RunsNothingWhileStoppedAndAllOfItLater) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    const auto p = virtual_process::make(l);
    std::string order;
    p->post([&] { order += "a"; });
    p->start_timer(p->now() + 1s, [&] { order += "b"; });
    const auto cancelled = p->start_timer(p->now() + 2s, [&] { order += "never"; });
    p->start_timer(p->now() + 3s, [&] { order += "c"; });
    l->post([&] { order += "other "; });
    p->pause();
    l->run_for(1min);
    EXPECT_EQ(order, "other ");
    p->cancel_timer(cancelled);
    p->resume();
    l->run_for(0s);
    EXPECT_EQ(order, "other abc");
}

TEST(ProcessOfALoop, HasAClockOfItsOwn) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    const auto slow = virtual_process::make(l);
    const auto fast = virtual_process::make(l);
    const auto start = l->now();
    l->run_for(1s);
    slow->set_clock_rate(0.9);
    fast->set_clock_rate(1.1);
    EXPECT_EQ(slow->now(), start + 1s) << "it does not jump";
    std::vector<nanoseconds> ran;
    slow->start_timer(slow->now() + 9s, [&] { ran.push_back(l->now() - start); });
    fast->start_timer(fast->now() + 9s, [&] { ran.push_back(l->now() - start); });
    l->run_for(10s);
    EXPECT_EQ(slow->now(), start + 10s);
    EXPECT_EQ(fast->now(), start + 12s);
    // 9 s are 10 s, and 8.18 s, rounded up.
    EXPECT_EQ(ran, (std::vector<nanoseconds>{9'181'818'182ns, 11s}));
    EXPECT_EQ(slow->lasting(9s), 10s);
}

TEST(ProcessOfALoop, TimersFollowAChangeOfItsClock) {
    const auto l = virtual_loop::make(mode::stepped, 1);
    const auto process = virtual_process::make(l);
    const auto start = l->now();
    nanoseconds ran{};
    process->start_timer(process->now() + 10s, [&] {
        EXPECT_GE(process->now(), start + 10s);
        ran = l->now() - start;
    });
    l->run_for(5s);
    process->set_clock_rate(0.5);
    l->run_for(3s);
    process->set_clock_rate(2);
    l->run_for(1h);
    EXPECT_EQ(ran, 5s + 3s + 1750ms);
    EXPECT_EQ(process->due(loop::clock::time_point::max()), loop::clock::time_point::max());
}

TEST(ThreadedLoop, AdvancingRunsWhatFallsDueInOrderAtItsTime) {
    const auto l = virtual_loop::make(mode::threaded, 1);
    std::string order;
    loop::clock::time_point start;
    loop::clock::duration second_after{};
    l->call([&] {
        start = l->now();
        l->start_timer(start + 2h, [&] { order += "2"; });
        l->start_timer(start + 1h, [&] {
            order += "1";
            l->start_timer(l->now() + 30min, [&] {
                order += "i";
                second_after = l->now() - start;
            });
        });
    });
    l->advance(3h);
    l->call([] {});
    EXPECT_EQ(order, "1i2");
    EXPECT_GE(second_after, 90min);
    EXPECT_LT(second_after, 2h);
    EXPECT_GE(l->now() - start, 3h);
}

TEST(ThreadedLoop, MayEndInsideOneOfItsTasks) {
    auto l = virtual_loop::make(mode::threaded, 1);
    const auto process = virtual_process::make(l);
    const auto witness = std::make_shared<int>(0);
    virtual_loop* const raw = l.get();
    raw->post([owned = std::move(l), witness] {});
    EXPECT_TRUE(latchkey::test::eventually([&] { return witness.use_count() == 1; }));
}

}  // namespace
