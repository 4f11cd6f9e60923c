#include <latchkey/awaitable.hpp>

#include "open_call.hpp"
#include "plain_coroutine.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace latchkey {
namespace {

using test::open_call;
using test::outcome;
using test::plain_coroutine;
using test::value;
using test::value_handler;
using test::wait_for_value;

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

}  // namespace
}  // namespace latchkey
