#include <latchkey/awaitable.hpp>

#include "open_call.hpp"
#include "plain_coroutine.hpp"

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using test::open_call;
using test::outcome;
using test::plain_coroutine;
using test::value;
using test::value_handler;
using test::wait_for_value;

TEST(AwaitableCancel, PassesOnARequestOfTheCallersStopToken) {
    open_call c;
    outcome o;
    std::stop_source stop;
    const auto waiting = wait_for_value(c.begin(stop.get_token()), o);
    EXPECT_FALSE(c.stop.stop_requested());
    stop.request_stop();
    EXPECT_TRUE(c.stop.stop_requested());
    EXPECT_EQ(o.resumed, 0) << "the call decides what a request leads to";
    c.done({}, nullptr);
    EXPECT_EQ(o.got, -1);
}

TEST(AwaitableCancel, StartsWithATokenThatIsRequestedAlready) {
    std::stop_source stop;
    stop.request_stop();
    bool requested = false;
    outcome o;
    const auto waiting = wait_for_value(awaitable<value>(
                                            [&](const std::stop_token& s, value_handler done) {
                                                requested = s.stop_requested();
                                                done({}, nullptr);
                                            },
                                            stop.get_token()),
                                        o);
    EXPECT_TRUE(requested);
    EXPECT_EQ(o.resumed, 1);
}

// The callback that passes the request on is destroyed by the coroutine that it resumes.
TEST(AwaitableCancel, MayCompleteInsideTheRequestOfTheCallersStopToken) {
    std::stop_source stop;
    outcome o;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    const auto waiting =
        wait_for_value(awaitable<value>(
                           [&](const std::stop_token& s, value_handler done) {
                               const auto h = std::make_shared<value_handler>(std::move(done));
                               on_stop.emplace(s, [h] { (*h)({}, nullptr); });
                           },
                           stop.get_token()),
                       o);
    EXPECT_EQ(o.resumed, 0);
    stop.request_stop();
    EXPECT_EQ(o.resumed, 1);
    EXPECT_TRUE(waiting.done());
}

TEST(AwaitableCancel, DestroyedWhileItWaitsCancelsAndDestroysALateResult) {
    open_call c;
    outcome o;
    auto waiting = wait_for_value(c.begin(), o);
    EXPECT_FALSE(c.stop.stop_requested());
    waiting.destroy();
    EXPECT_TRUE(c.stop.stop_requested());
    const auto witness = std::make_shared<int>(0);
    using witnessed = std::shared_ptr<int>;
    move_only_function<void(std::error_code, witnessed)> late;
    auto other = [](awaitable<witnessed> a, outcome& out) -> plain_coroutine {
        static_cast<void>(co_await std::move(a));
        ++out.resumed;
    }(awaitable<witnessed>([&](const std::stop_token&,
                               move_only_function<void(std::error_code, witnessed)> h) {
          late = std::move(h);
      }),
                                                          o);
    other.destroy();
    late({}, witness);
    EXPECT_EQ(witness.use_count(), 1) << "destroyed at once, though the handler still exists";
    c.done({}, std::make_unique<int>(7));
    EXPECT_EQ(o.resumed, 0);
}

TEST(AwaitableCancel, DestroyedMayCompleteTheCallInsideItsOwnRequest) {
    outcome o;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
    bool completed = false;
    auto waiting =
        wait_for_value(awaitable<value>([&](const std::stop_token& s, value_handler done) {
                           const auto h = std::make_shared<value_handler>(std::move(done));
                           on_stop.emplace(s, [h, &completed] {
                               completed = true;
                               (*h)({}, nullptr);
                           });
                       }),
                       o);
    waiting.destroy();
    EXPECT_TRUE(completed);
    EXPECT_EQ(o.resumed, 0);
}

TEST(AwaitableCancel, DestroyedAfterTheResultRequestsNothing) {
    open_call c;
    outcome o;
    auto waiting = wait_for_value(c.begin(), o);
    c.done({}, std::make_unique<int>(7));
    waiting.destroy();
    EXPECT_FALSE(c.stop.stop_requested());
}

/// Counts how often it is resumed. It stands for a coroutine that its owner continues elsewhere.
struct resumption_counter {
    struct promise_type {
        resumption_counter get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }

        static std::suspend_always initial_suspend() noexcept { return {}; }

        static std::suspend_always final_suspend() noexcept { return {}; }

        void return_void() noexcept {}

        void unhandled_exception() noexcept {}
    };

    std::coroutine_handle<promise_type> frame;
};

resumption_counter count_resumptions(std::atomic<int>& count) {
    for (;;) {
        ++count;
        co_await std::suspend_always{};
    }
}

// Two threads meet at the same call: one destroys what waits, the other one brings the result.
// Whichever comes first, the result is destroyed once, and what was destroyed first is not resumed.
TEST(AwaitableCancel, DestroyedWhileTheHandlerRunsResumesOrDropsTheResult) {
    using witnessed = std::shared_ptr<int>;
    constexpr int rounds = 200;
    int resumed_in_all = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto witness = std::make_shared<int>(i);
        std::atomic<int> resumed{0};
        const resumption_counter waiter = count_resumptions(resumed);
        move_only_function<void(std::error_code, witnessed)> done;
        std::stop_token stop;
        awaitable<witnessed> a(
            [&](std::stop_token s, move_only_function<void(std::error_code, witnessed)> h) {
                stop = std::move(s);
                done = std::move(h);
            });
        using awaiter = decltype(std::move(a).operator co_await());
        std::optional<awaiter> waiting;
        waiting.emplace(std::move(a));
        ASSERT_TRUE(waiting->await_suspend(waiter.frame));
        std::atomic<int> ready{0};
        const auto meet = [&ready] {
            ++ready;
            while (ready < 2) {
                std::this_thread::yield();
            }
        };
        {
            const std::jthread handler([&] {
                meet();
                done({}, witness);
            });
            meet();
            waiting.reset();
        }
        EXPECT_LE(resumed, 1);
        EXPECT_EQ(witness.use_count(), 1);
        EXPECT_EQ(stop.stop_requested(), resumed == 0);
        resumed_in_all += resumed;
        waiter.frame.destroy();
    }
    RecordProperty("resumed", resumed_in_all);
}

// The same for a coroutine that its owner destroys where it continues: under one mutex, as on one
// executor. The other thread may be anywhere in the call.
TEST(AwaitableCancel, DestroyedBeforeOrAfterTheHandlerRanOnAnotherThread) {
    constexpr int rounds = 300;
    for (int i = 0; i < rounds; ++i) {
        std::mutex executor;
        open_call c;
        outcome o;
        auto waiting = std::make_unique<plain_coroutine>(wait_for_value(c.begin(), o));
        bool destroyed = false;
        bool dropped = false;
        {
            const std::jthread handler([&] {
                const std::lock_guard<std::mutex> here(executor);
                dropped = destroyed;
                c.done({}, std::make_unique<int>(7));
            });
            const std::lock_guard<std::mutex> here(executor);
            destroyed = true;
            waiting.reset();
        }
        EXPECT_EQ(o.resumed, dropped ? 0 : 1);
        EXPECT_EQ(c.stop.stop_requested(), dropped);
    }
}

// A resumed coroutine may end, and with it its frame, while the start is still returning.
TEST(AwaitableCancel, MayEndOnAnotherThreadBeforeTheStartReturns) {
    constexpr int rounds = 300;
    std::atomic<int> ended{0};
    const auto begin = [](awaitable<void> a, std::atomic<int>& count) -> test::detached_coroutine {
        co_await std::move(a);
        ++count;
    };
    std::vector<std::jthread> handlers;
    for (int i = 0; i < rounds; ++i) {
        begin(awaitable<void>(
                  [&](const std::stop_token&, move_only_function<void(std::error_code)> done) {
                      handlers.emplace_back([h = std::move(done)]() mutable { h({}); });
                  }),
              ended);
    }
    handlers.clear();
    EXPECT_EQ(ended, rounds);
}

}  // namespace
}  // namespace latchkey
