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
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latchkey {
namespace {

using test::open_call;
using test::outcome;
using test::plain_coroutine;
using test::value;
using test::value_handler;
using test::wait_for_value;
using ::testing::HasSubstr;
using nothing_handler = move_only_function<void(std::error_code)>;
using witnessed = std::shared_ptr<int>;
using witness_handler = move_only_function<void(std::error_code, witnessed)>;

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

/// A call whose start does that.
template <class Start>
plain_coroutine wait_for_started(Start start, outcome& o, std::stop_token stop = {}) {
    return wait_for_value(awaitable<value>(std::move(start), std::move(stop)), o);
}

void not_here(const std::stop_token& /*stop*/, const value_handler& /*done*/) {
    throw error(errc::forked, "not here");
}

/// Ends the call without a value inside the request to stop it.
class ends_when_stopped {
public:
    void operator()(const std::stop_token& s, value_handler done) {
        const auto h = std::make_shared<value_handler>(std::move(done));
        on_stop_->emplace(s, [h, n = ended] {
            ++*n;
            (*h)({}, nullptr);
        });
    }

    std::shared_ptr<int> ended = std::make_shared<int>(0);

private:
    using callback = std::stop_callback<std::function<void()>>;
    std::shared_ptr<std::optional<callback>> on_stop_ = std::make_shared<std::optional<callback>>();
};

TEST(Awaitable, StartsWhenItIsAwaitedAndNotBefore) {
    open_call c;
    outcome o;
    static_cast<void>(c.begin());
    EXPECT_EQ(c.started, 0);
    const auto waiting = wait_for_value(c.begin(), o);
    EXPECT_EQ(c.started, 1);
    EXPECT_EQ(o.resumed, 0);
    std::thread([&] {
        c.done({}, std::make_unique<int>(7));
        EXPECT_EQ(o.resumed, 1) << "inside the call of the handler, on its thread";
    }).join();
    EXPECT_EQ(o.got, 7);
    EXPECT_TRUE(waiting.done());
}

TEST(Awaitable, CanBeAwaitedAsATemporary) {
    open_call c;
    outcome o;
    const auto waiting = [](open_call& call, outcome& out) -> plain_coroutine {
        const value v = co_await call.begin(std::stop_source().get_token());
        out.got = *v;
    }(c, o);
    c.done({}, std::make_unique<int>(7));
    EXPECT_EQ(o.got, 7);
    EXPECT_TRUE(waiting.done());
}

// A call may be over before its start has returned, and another thread may be the one to end it.
TEST(Awaitable, ContinuesOnTheThreadOfTheHandlerEvenBeforeTheStartReturns) {
    std::thread::id handler;
    const auto start = [&](const std::stop_token&, nothing_handler done) {
        std::thread([&] {
            handler = std::this_thread::get_id();
            done({});
        }).join();
    };
    std::thread::id resumed;
    const auto waiting = [](awaitable<void> a, std::thread::id& here) -> plain_coroutine {
        co_await std::move(a);
        here = std::this_thread::get_id();
    }(awaitable<void>(start), resumed);
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(resumed, handler);
}

TEST(Awaitable, TakesAResultThatComesInsideTheStart) {
    outcome o;
    bool inside = true;
    const auto start = [&](const std::stop_token&, value_handler done) {
        done({}, std::make_unique<int>(7));
        inside = o.resumed > 0;
    };
    const auto waiting = wait_for_started(start, o);
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
    EXPECT_THAT(o.what, HasSubstr(make_error_code(errc::not_authorized).message()));
}

TEST(Awaitable, KeepsTheMessageOfAnErrorThatIsGivenWhole) {
    outcome o;
    const auto start = [](const std::stop_token&, awaitable_handler<value> done) {
        done(error(errc::not_authorized, "\"/a\" is closed to you"), nullptr);
    };
    const auto waiting = wait_for_started(start, o);
    EXPECT_EQ(o.ec, errc::not_authorized);
    EXPECT_THAT(o.what, HasSubstr("\"/a\" is closed to you"));
}

TEST(Awaitable, ThrowsWhatTheStartThrows) {
    outcome o;
    const auto waiting = wait_for_started(&not_here, o);
    EXPECT_EQ(o.ec, errc::forked);
    EXPECT_THAT(o.what, HasSubstr("not here"));
    const auto throws = [](const std::stop_token&, const value_handler&) { throw 1; };
    const auto failing = wait_for_started(throws, o);
    EXPECT_TRUE(failing.done());
    EXPECT_THROW(std::rethrow_exception(failing.threw()), int);
}

TEST(Awaitable, WithErrorDoesNotThrow) {
    for (const auto& [ec, result] :
         {std::pair{make_error_code(errc::closed), 3}, {std::error_code(), 4}}) {
        open_call c;
        outcome o;
        const auto waiting = wait_with_error(c.begin(), o);
        c.done(ec, std::make_unique<int>(result));
        EXPECT_EQ(o.ec, ec);
        EXPECT_EQ(o.got, result);
    }
    outcome o;
    const auto waiting = wait_with_error(awaitable<value>(&not_here), o);
    EXPECT_EQ(o.ec, errc::forked);
    EXPECT_EQ(o.resumed, 1);
}

TEST(Awaitable, OfNothingWorksTheSame) {
    nothing_handler done;
    const auto begin = [&] {
        return awaitable<void>(
            [&](const std::stop_token&, nothing_handler h) { done = std::move(h); });
    };
    outcome o;
    const auto a = wait_for_nothing(begin(), o);
    EXPECT_EQ(o.resumed, 0);
    done({});
    EXPECT_EQ(o.resumed, 1);
    const auto b = wait_for_nothing(begin(), o);
    done(errc::closed);
    EXPECT_EQ(o.resumed, 1) << "it throws";
    EXPECT_THROW(std::rethrow_exception(b.threw()), error);
    const auto d = wait_for_nothing_with_error(begin(), o);
    done(errc::closed);
    EXPECT_EQ(o.ec, errc::closed);
}

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
    const auto start = [&](const std::stop_token& s, value_handler done) {
        requested = s.stop_requested();
        done({}, nullptr);
    };
    outcome o;
    const auto waiting = wait_for_started(start, o, stop.get_token());
    EXPECT_TRUE(requested);
    EXPECT_EQ(o.resumed, 1);
}

// The callback that passes the request on is destroyed by the coroutine that it resumes.
TEST(AwaitableCancel, MayCompleteInsideTheRequestOfTheCallersStopToken) {
    std::stop_source stop;
    outcome o;
    const ends_when_stopped start;
    const auto waiting = wait_for_started(start, o, stop.get_token());
    EXPECT_EQ(o.resumed, 0);
    stop.request_stop();
    EXPECT_EQ(o.resumed, 1);
    EXPECT_TRUE(waiting.done());
}

TEST(AwaitableCancel, DestroyedWhileItWaitsCancelsTheCall) {
    open_call c;
    outcome o;
    auto waiting = wait_for_value(c.begin(), o);
    EXPECT_FALSE(c.stop.stop_requested());
    waiting.destroy();
    EXPECT_TRUE(c.stop.stop_requested());
    c.done({}, std::make_unique<int>(7));
    EXPECT_EQ(o.resumed, 0);
}

TEST(AwaitableCancel, DestroyedWhileItWaitsDestroysALateResultAtOnce) {
    witness_handler late;
    auto waiting = [](awaitable<witnessed> a) -> plain_coroutine {
        static_cast<void>(co_await std::move(a));
        ADD_FAILURE() << "resumed";
    }(awaitable<witnessed>([&](const std::stop_token&, witness_handler h) {
        late = std::move(h);
    }));
    waiting.destroy();
    const auto witness = std::make_shared<int>(0);
    late({}, witness);
    EXPECT_EQ(witness.use_count(), 1) << "though the handler still exists";
}

TEST(AwaitableCancel, DestroyedMayCompleteTheCallInsideItsOwnRequest) {
    outcome o;
    const ends_when_stopped start;
    auto waiting = wait_for_started(start, o);
    waiting.destroy();
    EXPECT_EQ(*start.ended, 1);
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
plain_coroutine count_resumptions(std::atomic<int>& count, std::coroutine_handle<>& self) {
    struct handle_of : std::suspend_always {
        std::coroutine_handle<>& self;

        void await_suspend(std::coroutine_handle<> h) const noexcept { self = h; }
    };

    for (;; ++count) {
        co_await handle_of{{}, self};
    }
}

// Two threads meet at the same call: one destroys what waits, the other one brings the result.
// Whichever comes first, the result is destroyed once, and what was destroyed first is not resumed.
TEST(AwaitableCancel, DestroyedWhileTheHandlerRunsResumesOrDropsTheResult) {
    for (int i = 0; i < 200; ++i) {
        const auto witness = std::make_shared<int>(i);
        std::atomic<int> resumed{0};
        std::coroutine_handle<> waiter;
        const plain_coroutine counting = count_resumptions(resumed, waiter);
        witness_handler done;
        std::stop_token stop;
        awaitable<witnessed> a([&](std::stop_token s, witness_handler h) {
            stop = std::move(s);
            done = std::move(h);
        });
        std::optional<decltype(std::move(a).operator co_await())> waiting;
        waiting.emplace(std::move(a));
        ASSERT_TRUE(waiting->await_suspend(waiter));
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
    }
}

// A coroutine that its owner destroys where it continues: under one mutex, as on one executor. The
// other thread may be anywhere in the call.
TEST(AwaitableCancel, DestroyedBeforeOrAfterTheHandlerRanOnAnotherThread) {
    for (int i = 0; i < 300; ++i) {
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
    const auto start = [&](const std::stop_token&, nothing_handler done) {
        handlers.emplace_back([h = std::move(done)]() mutable { h({}); });
    };
    for (int i = 0; i < rounds; ++i) {
        begin(awaitable<void>(start), ended);
    }
    handlers.clear();
    EXPECT_EQ(ended, rounds);
}

}  // namespace
}  // namespace latchkey
