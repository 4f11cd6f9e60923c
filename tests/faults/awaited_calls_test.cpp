#include <latchkey/awaitable.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include "client/client_core.hpp"
#include "eventually.hpp"
#include "plain_coroutine.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/znode_names.hpp"
#include "queued_executor.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

constexpr auto without_limit = std::chrono::nanoseconds::max();

/// A lock that is acquired with co_await, from handlers alone.
awaitable<hold> acquire_by_handler(mutex& m) {
    return awaitable<hold>(
        [&m](std::stop_token stop, awaitable_handler<hold> h) {
            const auto done = std::make_shared<awaitable_handler<hold>>(std::move(h));
            m.async_acquire(
                {.stop = std::move(stop), .reserved = {}},
                [done](std::error_code ec, hold granted) { (*done)(ec, std::move(granted)); });
        },
        {});
}

/// What the coroutines of a test have seen.
struct tally {
    std::vector<hold> held;
    int elsewhere = 0;
    std::vector<std::string> errors;
    std::thread::id here = std::this_thread::get_id();
};

plain_coroutine keep_hold(awaitable<hold> acquiring, tally& all) {
    try {
        all.held.push_back(co_await std::move(acquiring));
        all.elsewhere += std::this_thread::get_id() == all.here ? 0 : 1;
    } catch (const error& e) {
        all.errors.emplace_back(e.what());
    }
}

/// Coroutines run on the thread of the test.
class AwaitedCalls : public ::testing::Test {
protected:
    /// So many znodes are in the queue at last.
    [[nodiscard]] bool left(std::size_t znodes) {
        return eventually([&] { return ensemble_.children("/lock").size() == znodes; });
    }

    ensemble ensemble_;
    queued_executor queue_;
    client c_ = ensemble_.connect({.session_timeout = 10s, .executor = queue_.executor()});
    mutex m_{c_, "/lock"};
    tally all_;
};

TEST_F(AwaitedCalls, AThousandLocksAreHeldByOneThread) {
    constexpr std::size_t count = 1'000;
    std::vector<std::unique_ptr<mutex>> locks;
    std::vector<plain_coroutine> waiting;
    for (std::size_t i = 0; i < count; ++i) {
        mutex& m = *locks.emplace_back(std::make_unique<mutex>(c_, "/locks/" + std::to_string(i)));
        waiting.push_back(keep_hold(acquire_by_handler(m), all_));
    }
    EXPECT_TRUE(queue_.run_until([&] { return all_.held.size() + all_.errors.size() == count; }));
    EXPECT_TRUE(all_.errors.empty());
    EXPECT_EQ(all_.elsewhere, 0);
    for (const hold& h : all_.held) {
        EXPECT_TRUE(h.valid());
    }
}

TEST_F(AwaitedCalls, TakeTurnsInOrderOnOnePath) {
    constexpr std::size_t count = 50;
    std::vector<plain_coroutine> waiting;
    for (std::size_t i = 0; i < count; ++i) {
        waiting.push_back(keep_hold(acquire_by_handler(m_), all_));
    }
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(queue_.run_until([&] { return all_.held.size() == 1; }));
        all_.held.clear();
        ASSERT_TRUE(waiting[i].done());
    }
}

TEST_F(AwaitedCalls, ADestroyedWaiterLeavesTheQueue) {
    client other = ensemble_.connect({.session_timeout = 10s});
    mutex theirs(other, "/lock");
    hold held = theirs.acquire();
    auto waiting = keep_hold(acquire_by_handler(m_), all_);
    ASSERT_TRUE(left(2));
    waiting.destroy();
    EXPECT_TRUE(left(1));
    held.release();
    EXPECT_TRUE(m_.acquire());
}

// The grant is on its way to the executor when the coroutine is destroyed.
TEST_F(AwaitedCalls, ADestroyedWaiterReleasesTheGrantThatComesLater) {
    auto waiting = keep_hold(acquire_by_handler(m_), all_);
    ASSERT_TRUE(eventually([&] { return queue_.size() == 1; }));
    EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
    waiting.destroy();
    queue_.run_all();
    EXPECT_TRUE(all_.held.empty());
    EXPECT_TRUE(left(0));
}

TEST_F(AwaitedCalls, OfALockRecipeKeepTheMessageOfTheirError) {
    const auto core = client_core::of(c_);
    const acquire_calls calls(core);
    const auto as = std::make_shared<const queue_recipe>(
        queue_recipe_of(*core, "/secret/lock", lock_names, {}));
    ensemble_.create("/secret");
    ensemble_.set_acl("/secret", {{"world", "anyone", permission::read}});
    const auto refused = keep_hold(calls.await_acquire(as, without_limit, {}), all_);
    ASSERT_TRUE(queue_.run_until([&] { return refused.done(); }));
    ASSERT_EQ(all_.errors.size(), 1U);
    EXPECT_NE(all_.errors.front().find("/secret"), std::string::npos) << all_.errors.front();
    const auto open =
        std::make_shared<const queue_recipe>(queue_recipe_of(*core, "/open", lock_names, {}));
    const auto granted = keep_hold(calls.await_acquire(open, without_limit, {}), all_);
    ASSERT_TRUE(queue_.run_until([&] { return granted.done(); }));
    EXPECT_EQ(all_.held.size(), 1U);
}

}  // namespace
}  // namespace latchkey::test
