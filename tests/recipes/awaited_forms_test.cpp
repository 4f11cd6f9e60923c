// Compiled without and with optimization, both times with the address sanitizer: g++ 12 destroys
// twice what stands in braces in a statement that awaits, unless the type prevents that
// (option.hpp, operation_list).
#include <latchkey/asio.hpp>
#include <latchkey/awaitable.hpp>
#include <latchkey/barrier.hpp>
#include <latchkey/client.hpp>
#include <latchkey/curator_semaphore.hpp>
#include <latchkey/double_barrier.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/group.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/multi_mutex.hpp>
#include <latchkey/mutex.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/shared_mutex.hpp>

#include "eventually.hpp"
#include "plain_coroutine.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;

/// Long enough to be on the heap.
const std::string text(100, 'x');

class AwaitedForms : public ::testing::Test {
public:
    AwaitedForms() { servers_.create("/data", "before"); }

    ~AwaitedForms() override {
        stop_.request_stop();  // calls into a stop state that was freed too early
        zk_.close();
    }

    using form = detached_coroutine (*)(AwaitedForms&);

    /// Waits for the coroutine, which must call end().
    void run(form f) {
        for (int turn = 1; turn <= 3; ++turn) {
            f(*this);
            ASSERT_TRUE(eventually([&] { return ended_ == turn; }));
        }
    }

    template <class Lock, class... What>
    void run_acquires(Lock& m, What... what);

    void end() { ++ended_; }

    [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }

    testing::ensemble servers_;
    client zk_ = servers_.connect();
    std::stop_source stop_;
    std::atomic<int> ended_ = 0;
};

/// It is released at the end.
void expect_valid(const hold& h) {
    EXPECT_TRUE(h.valid());
}

template <class Lock, class... What>
detached_coroutine acquire_in_every_way(Lock& m,
                                        std::atomic<int>& ended,
                                        std::stop_token stop,
                                        What... what) {
    std::atomic<int> reserved = 0;
    const auto count = [&reserved](const queue_position&) { ++reserved; };
    const std::function<void(const queue_position&)> counter = count;
    const acquire_options named{.stop = stop, .reserved = count};
    expect_valid(co_await m.acquire_async(what...));
    expect_valid(co_await m.acquire_async(what..., {}));
    expect_valid(co_await m.acquire_async(what..., 30s));
    expect_valid(co_await m.acquire_async(what..., {.stop = stop}));
    expect_valid(co_await m.acquire_async(what..., 30s, {.stop = stop}));
    expect_valid(co_await m.acquire_async(what..., acquire_options{.stop = stop}));
    expect_valid(co_await m.acquire_async(what..., {.stop = stop, .reserved = counter}));
    expect_valid(co_await m.acquire_async(
        what..., 30s, {.reserved = [&reserved](const queue_position&) { ++reserved; }}));
    expect_valid(co_await m.acquire_async(what..., named));
    {
        const hold h = co_await m.acquire_async(what..., {.stop = stop, .reserved = counter});
        EXPECT_TRUE(h.valid());
    }
    {
        auto [ec, h] = co_await with_error(m.acquire_async(what..., 30s, {.stop = stop}));
        EXPECT_FALSE(ec);
        EXPECT_TRUE(h.valid());
    }
    if (const hold h = co_await m.acquire_async(what..., {.stop = stop}); !h) {
        ADD_FAILURE();
    }
    ++ended;
}

template <class Lock, class... What>
void AwaitedForms::run_acquires(Lock& m, What... what) {
    const int before = ended_;
    acquire_in_every_way(m, ended_, stop(), what...);
    ASSERT_TRUE(eventually([&] { return ended_ > before; }));
}

TEST_F(AwaitedForms, OfEveryLockTakeOptionsInBraces) {
    mutex m(zk_, "/mutex");
    run_acquires(m);
    mutex kept(zk_, "/kept", {.retain_for = 10s});
    run_acquires(kept);
    multi_mutex several(zk_, {"/one", "/two"});
    run_acquires(several);
    shared_mutex rw(zk_, "/shared");
    run_acquires(rw, lock_mode::shared);
    run_acquires(rw, lock_mode::exclusive);
    semaphore permits(zk_, "/permits", 3);
    run_acquires(permits, 2U);
    curator_semaphore leases(zk_, "/leases", 3);
    run_acquires(leases, 1U);
}

TEST_F(AwaitedForms, EndWhenTheStopInBracesIsRequested) {
    run([](AwaitedForms& t) -> detached_coroutine {
        mutex m(t.zk_, "/mutex");
        std::stop_source requested;
        requested.request_stop();
        const hold h = co_await m.acquire_async({.stop = requested.get_token()});
        EXPECT_FALSE(h.valid());
        t.end();
    });
}

TEST_F(AwaitedForms, OfAConversionTakeOptionsInBraces) {
    run([](AwaitedForms& t) -> detached_coroutine {
        shared_mutex m(t.zk_, "/converted");
        hold h = co_await m.acquire_async(lock_mode::shared, {.stop = t.stop()});
        h = co_await m.convert_async(std::move(h), lock_mode::upgrade, {.stop = t.stop()});
        h = co_await m.convert_async(
            std::move(h), lock_mode::exclusive, acquire_options{.stop = t.stop()});
        EXPECT_EQ(h.mode(), lock_mode::exclusive);
        h = co_await m.convert_async(std::move(h), lock_mode::shared);
        EXPECT_EQ(h.mode(), lock_mode::shared);
        h.release();
        t.end();
    });
}

TEST_F(AwaitedForms, OfTransactionsAndReadsTakeOperationsInBracesAndTemporaries) {
    run([](AwaitedForms& t) -> detached_coroutine {
        mutex m(t.zk_, "/mutex");
        hold h = co_await m.acquire_async();
        const auto one = co_await h.transact_async({operation::set("/data", text)});
        EXPECT_EQ(one.size(), 1U);
        const auto two =
            co_await h.transact_async({operation::set("/data", text), operation::check("/data")});
        EXPECT_EQ(two.size(), 2U);
        const auto again = co_await h.transact_async(operation::set("/data", text));
        EXPECT_EQ(again.size(), 1U);
        std::vector<operation> many(3, operation::set("/data", text));
        EXPECT_EQ((co_await h.transact_async(many)).size(), 3U);
        EXPECT_EQ((co_await h.transact_async(std::move(many))).size(), 3U);
        auto [none, nothing] = co_await with_error(h.transact_async({}));
        EXPECT_EQ(none, errc::invalid_argument);
        const std::string marker = "/once" + std::to_string(h.token().value());
        EXPECT_TRUE(co_await h.transact_once_async(marker, {operation::set("/data", text)}));
        EXPECT_FALSE(co_await h.transact_once_async(
            marker, {operation::set("/data", text), operation::check("/data")}));
        const auto free = co_await t.zk_.transact_async(
            {operation::set("/data", text), operation::remove(marker)});
        EXPECT_EQ(free.size(), 2U);
        auto [refused, results] =
            co_await with_error(t.zk_.transact_async({operation::remove("/none")}));
        EXPECT_EQ(refused, errc::no_such_znode);
        EXPECT_TRUE(co_await t.zk_.get_async("/data"));
        EXPECT_TRUE(co_await t.zk_.get_async(std::string("/data"), read_from::quorum));
        EXPECT_TRUE(co_await t.zk_.exists_async("/data"));
        EXPECT_FALSE((co_await t.zk_.children_async("/")).empty());
        auto [ec, data] = co_await with_error(t.zk_.get_async("/" + text));
        EXPECT_FALSE(ec);
        EXPECT_FALSE(data);
        t.end();
    });
}

TEST_F(AwaitedForms, OfAGroupAndBarriersTakeOptionsInBracesAndTemporaries) {
    run([](AwaitedForms& t) -> detached_coroutine {
        group g(t.zk_, "/group");
        {
            const membership a = co_await g.join_async("a", {.data = text, .stop = t.stop()});
            const membership b = co_await g.join_async(text, 30s, {.data = "b"});
            const membership c =
                co_await g.join_async("c", join_options{.data = text + "c", .stop = t.stop()});
            auto [ec, d] = co_await with_error(g.join_async("d", {.data = std::string(text)}));
            EXPECT_TRUE(a && b && c && d && !ec);
            const auto all = co_await t.zk_.children_async("/group");
            EXPECT_EQ(all.size(), 4U);
            EXPECT_EQ((co_await t.zk_.get_async("/group/c"))->data, text + "c");
            EXPECT_EQ((co_await t.zk_.get_async("/group/" + text))->data, "b");
        }
        barrier b(t.zk_, "/barrier");
        EXPECT_TRUE(co_await b.wait_async());
        EXPECT_TRUE(co_await b.wait_async({}));
        EXPECT_TRUE(co_await b.wait_async(t.stop()));
        EXPECT_TRUE(co_await b.wait_async(30s, t.stop()));
        double_barrier step(t.zk_, "/step", 1);
        EXPECT_TRUE(co_await step.enter_async(t.stop()));
        EXPECT_TRUE(co_await step.leave_async(30s, t.stop()));
        EXPECT_TRUE(co_await step.enter_async(30s, {}));
        EXPECT_TRUE(co_await step.leave_async());
        t.end();
    });
}

TEST_F(AwaitedForms, OfALeaderTakeTemporaries) {
    run([](AwaitedForms& t) -> detached_coroutine {
        leader_latch latch(
            t.zk_, "/leader", {.id = "node-7", .data = text, .preference = leader_preference{}});
        const leadership term = co_await latch.wait_async(30s, t.stop());
        EXPECT_TRUE(term.valid());
        co_await term.proclaim_async(text + "2");
        co_await term.transact_async({operation::set("/data", text)});
        const std::string marker = "/once" + std::to_string(term.token().value());
        EXPECT_TRUE(co_await term.transact_once_async(marker, {operation::set("/data", text)}));
        EXPECT_EQ(co_await latch.transfer_to_async("nobody", 1s),
                  leader_latch::transfer::no_candidate);
        latch.resign();
        t.end();
    });
}

#ifdef BOOST_ASIO_HAS_CO_AWAIT  // not with clang 14
TEST_F(AwaitedForms, OfBoostAsioTakeOptionsInBraces) {
    boost::asio::io_context io;
    mutex m(zk_, "/mutex");
    bool held = false;
    const auto turn =
        [](mutex& l, std::stop_token stop, bool& acquired) -> boost::asio::awaitable<void> {
        hold h =
            co_await asio::async(l.acquire_async(30s, {.stop = stop}), boost::asio::use_awaitable);
        co_await asio::async(h.transact_async({operation::set("/data", text)}),
                             boost::asio::use_awaitable);
        acquired = h.valid();
    };
    boost::asio::co_spawn(io, turn(m, stop(), held), boost::asio::detached);
    io.run();
    EXPECT_TRUE(held);
}
#endif

}  // namespace
}  // namespace latchkey::test
