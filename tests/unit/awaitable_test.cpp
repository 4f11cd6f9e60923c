#include <latchkey/awaitable.hpp>

#include "plain_coroutine.hpp"

#include <atomic>
#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using test::plain_coroutine;
using value = std::unique_ptr<int>;
using value_handler = move_only_function<void(std::error_code, value)>;

/// A call that completes when the test says so, and the coroutine's side of it.
struct open_call {
    awaitable<value> begin(std::stop_token users = {}) {
        return awaitable<value>(
            [this](std::stop_token s, value_handler h) {
                ++started;
                stop = std::move(s);
                done = std::move(h);
            },
            std::move(users));
    }

    int started = 0;
    std::stop_token stop;
    value_handler done;
};

/// What became of a coroutine.
struct outcome {
    int resumed = 0;
    int got = 0;
    std::error_code ec;
    std::string what;
};

plain_coroutine wait_for_value(awaitable<value> a, outcome& o) {
    try {
        const value v = co_await std::move(a);
        ++o.resumed;
        o.got = v ? *v : -1;
    } catch (const error& e) {
        ++o.resumed;
        o.ec = e.code();
        o.what = e.what();
    }
}

plain_coroutine wait_for_temporary(open_call& c, std::stop_token stop, outcome& o) {
    const value v = co_await c.begin(std::move(stop));
    ++o.resumed;
    o.got = *v;
}

plain_coroutine wait_with_error(awaitable<value> a, outcome& o) {
    auto [ec, v] = co_await with_error(std::move(a));
    ++o.resumed;
    o.ec = ec;
    o.got = v ? *v : -1;
}

plain_coroutine wait_for_nothing(awaitable<void> a, outcome& o) {
    co_await std::move(a);
    ++o.resumed;
}

plain_coroutine wait_for_nothing_with_error(awaitable<void> a, outcome& o) {
    o.ec = co_await with_error(std::move(a));
    ++o.resumed;
}

TEST(Awaitable, StartsWhenItIsAwaitedAndNotBefore) {
    open_call c;
    outcome o;
    {
        const auto unused = c.begin();
        EXPECT_EQ(c.started, 0);
    }
    EXPECT_EQ(c.started, 0);
    const auto waiting = wait_for_value(c.begin(), o);
    EXPECT_EQ(c.started, 1);
    EXPECT_EQ(o.resumed, 0);
    c.done({}, std::make_unique<int>(7));
    EXPECT_EQ(o.resumed, 1);
    EXPECT_EQ(o.got, 7);
    EXPECT_TRUE(waiting.done());
}

TEST(Awaitable, CanBeAwaitedAsATemporary) {
    open_call c;
    outcome o;
    std::stop_source stop;
    const auto waiting = wait_for_temporary(c, stop.get_token(), o);
    c.done({}, std::make_unique<int>(7));
    EXPECT_EQ(o.got, 7);
    EXPECT_TRUE(waiting.done());
}

TEST(Awaitable, ContinuesOnTheThreadOfTheHandler) {
    open_call c;
    outcome o;
    const auto waiting = wait_for_value(c.begin(), o);
    std::thread::id handler;
    std::thread([&] {
        handler = std::this_thread::get_id();
        c.done({}, std::make_unique<int>(7));
        EXPECT_EQ(o.resumed, 1) << "inside the call of the handler";
    }).join();
    EXPECT_TRUE(waiting.done());
}

// A call may be over before its start has returned, and another thread may be the one to end it.
TEST(Awaitable, ContinuesOnTheThreadOfTheHandlerEvenBeforeTheStartReturns) {
    std::thread::id resumed;
    std::thread::id handler;
    const auto waiting = [](awaitable<void> a, std::thread::id& here) -> plain_coroutine {
        co_await std::move(a);
        here = std::this_thread::get_id();
    }(awaitable<void>([&](const std::stop_token&, move_only_function<void(std::error_code)> done) {
          std::thread([&] {
              handler = std::this_thread::get_id();
              done({});
          }).join();
      }),
                                                                      resumed);
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(resumed, handler);
}

TEST(Awaitable, TakesAResultThatComesInsideTheStart) {
    outcome o;
    bool inside = true;
    const auto waiting =
        wait_for_value(awaitable<value>([&](const std::stop_token&, value_handler done) {
                           done({}, std::make_unique<int>(7));
                           inside = o.resumed > 0;
                       }),
                       o);
    EXPECT_FALSE(inside) << "resumed before it was suspended";
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(o.got, 7);
}

// Each of them would be a frame deeper if the handler resumed inside the start.
TEST(Awaitable, ManyResultsInsideTheStartNeedNoMoreStackThanOne) {
    int sum = 0;
    const auto waiting = [](int& all) -> plain_coroutine {
        for (int i = 0; i < 100'000; ++i) {
            awaitable<value> a([i](const std::stop_token&, value_handler done) {
                done({}, std::make_unique<int>(i % 2));
            });
            const value v = co_await std::move(a);
            all += *v;
        }
    }(sum);
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(sum, 50'000);
}

TEST(Awaitable, ThrowsTheErrorOfTheHandler) {
    open_call c;
    outcome o;
    const auto waiting = wait_for_value(c.begin(), o);
    c.done(errc::not_authorized, nullptr);
    EXPECT_EQ(o.ec, errc::not_authorized);
    EXPECT_NE(o.what.find(make_error_code(errc::not_authorized).message()), std::string::npos);
}

TEST(Awaitable, KeepsTheMessageOfAnErrorThatIsGivenWhole) {
    outcome o;
    const auto waiting =
        wait_for_value(awaitable<value>([](const std::stop_token&, awaitable_handler<value> done) {
                           done(error(errc::not_authorized, "\"/a\" is closed to you"), nullptr);
                       }),
                       o);
    EXPECT_EQ(o.ec, errc::not_authorized);
    EXPECT_NE(o.what.find("\"/a\" is closed to you"), std::string::npos) << o.what;
}

TEST(Awaitable, ThrowsWhatTheStartThrows) {
    outcome o;
    const auto waiting =
        wait_for_value(awaitable<value>([](const std::stop_token&, const value_handler&) {
                           throw error(errc::forked, "not here");
                       }),
                       o);
    EXPECT_EQ(o.ec, errc::forked);
    EXPECT_NE(o.what.find("not here"), std::string::npos);
    outcome other;
    const auto failing = wait_for_value(
        awaitable<value>([](const std::stop_token&, const value_handler&) { throw 1; }), other);
    EXPECT_TRUE(failing.done());
    EXPECT_THROW(std::rethrow_exception(failing.threw()), int);
}

TEST(Awaitable, WithErrorDoesNotThrow) {
    open_call c;
    outcome o;
    const auto waiting = wait_with_error(c.begin(), o);
    c.done(errc::closed, std::make_unique<int>(3));
    EXPECT_EQ(o.ec, errc::closed);
    EXPECT_EQ(o.got, 3);
    outcome fine;
    const auto again = wait_with_error(c.begin(), fine);
    c.done({}, std::make_unique<int>(4));
    EXPECT_FALSE(fine.ec);
    EXPECT_EQ(fine.got, 4);
    outcome failed;
    const auto third =
        wait_with_error(awaitable<value>([](const std::stop_token&, const value_handler&) {
                            throw error(errc::forked, "not here");
                        }),
                        failed);
    EXPECT_EQ(failed.ec, errc::forked);
    EXPECT_EQ(failed.resumed, 1);
}

TEST(Awaitable, OfNothingWorksTheSame) {
    move_only_function<void(std::error_code)> done;
    const auto begin = [&] {
        return awaitable<void>(
            [&](const std::stop_token&, move_only_function<void(std::error_code)> h) {
                done = std::move(h);
            });
    };
    outcome fine;
    const auto a = wait_for_nothing(begin(), fine);
    EXPECT_EQ(fine.resumed, 0);
    done({});
    EXPECT_EQ(fine.resumed, 1);
    outcome throws;
    const auto b = wait_for_nothing(begin(), throws);
    done(errc::closed);
    EXPECT_EQ(throws.resumed, 0);
    EXPECT_THROW(std::rethrow_exception(b.threw()), error);
    outcome failed;
    const auto d = wait_for_nothing_with_error(begin(), failed);
    done(errc::closed);
    EXPECT_EQ(failed.ec, errc::closed);
}

TEST(Awaitable, PassesOnARequestOfTheCallersStopToken) {
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

TEST(Awaitable, StartsWithATokenThatIsRequestedAlready) {
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
TEST(Awaitable, MayCompleteInsideTheRequestOfTheCallersStopToken) {
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

TEST(Awaitable, DestroyedWhileItWaitsCancelsAndDestroysALateResult) {
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

TEST(Awaitable, DestroyedMayCompleteTheCallInsideItsOwnRequest) {
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

TEST(Awaitable, DestroyedAfterTheResultRequestsNothing) {
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
TEST(Awaitable, DestroyedWhileTheHandlerRunsResumesOrDropsTheResult) {
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
TEST(Awaitable, DestroyedBeforeOrAfterTheHandlerRanOnAnotherThread) {
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
TEST(Awaitable, MayEndOnAnotherThreadBeforeTheStartReturns) {
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
