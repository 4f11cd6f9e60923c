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
awaitable<hold> acquire_by_handler(mutex& m, std::stop_token users = {}) {
    return awaitable<hold>(
        [&m](std::stop_token stop, awaitable_handler<hold> h) {
            const auto done = std::make_shared<awaitable_handler<hold>>(std::move(h));
            m.async_acquire(
                {.stop = std::move(stop), .reserved = {}},
                [done](std::error_code ec, hold granted) { (*done)(ec, std::move(granted)); });
        },
        std::move(users));
}

/// Coroutines run on the thread of the test.
class AwaitedCalls : public ::testing::Test {
protected:
    client connect(client_options o = {.session_timeout = 10s}) {
        o.executor = queue_.executor();
        return ensemble_.connect(std::move(o));
    }

    ensemble ensemble_;
    queued_executor queue_;
};

/// What the coroutines of one test have seen.
struct tally {
    std::vector<hold> held;
    int empty = 0;
    int elsewhere = 0;
    std::vector<std::string> errors;
    std::thread::id here = std::this_thread::get_id();
};

plain_coroutine keep_hold(awaitable<hold> acquiring, tally& all) {
    try {
        hold h = co_await std::move(acquiring);
        all.elsewhere += std::this_thread::get_id() == all.here ? 0 : 1;
        if (h) {
            all.held.push_back(std::move(h));
        } else {
            ++all.empty;
        }
    } catch (const error& e) {
        all.errors.emplace_back(e.what());
    }
}

TEST_F(AwaitedCalls, AThousandLocksAreHeldByOneThread) {
    constexpr std::size_t count = 1'000;
    client c = connect();
    tally all;
    std::vector<std::unique_ptr<mutex>> locks;
    std::vector<plain_coroutine> waiting;
    for (std::size_t i = 0; i < count; ++i) {
        mutex& m = *locks.emplace_back(std::make_unique<mutex>(c, "/locks/" + std::to_string(i)));
        waiting.push_back(keep_hold(acquire_by_handler(m), all));
    }
    EXPECT_TRUE(queue_.run_until([&] { return all.held.size() + all.errors.size() == count; }));
    EXPECT_TRUE(all.errors.empty());
    EXPECT_EQ(all.elsewhere, 0);
    for (const hold& h : all.held) {
        EXPECT_TRUE(h.valid());
    }
}

TEST_F(AwaitedCalls, TakeTurnsInOrderOnOnePath) {
    constexpr std::size_t count = 50;
    client c = connect();
    tally all;
    mutex m(c, "/lock");
    std::vector<plain_coroutine> waiting;
    for (std::size_t i = 0; i < count; ++i) {
        waiting.push_back(keep_hold(acquire_by_handler(m), all));
    }
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(queue_.run_until([&] { return all.held.size() == 1; }));
        all.held.clear();
        ASSERT_TRUE(waiting[i].done());
    }
}

TEST_F(AwaitedCalls, AStopRequestLeadsToAnEmptyHold) {
    client c = connect();
    tally all;
    mutex m(c, "/lock");
    const hold held = m.acquire();
    std::stop_source stop;
    const auto waiting = keep_hold(acquire_by_handler(m, stop.get_token()), all);
    stop.request_stop();
    EXPECT_TRUE(queue_.run_until([&] { return all.empty == 1; }));
    EXPECT_TRUE(waiting.done());
}

TEST_F(AwaitedCalls, ADestroyedWaiterLeavesTheQueue) {
    client c = connect();
    client other = connect();
    tally all;
    mutex m(c, "/lock");
    mutex theirs(other, "/lock");
    hold held = theirs.acquire();
    auto waiting = keep_hold(acquire_by_handler(m), all);
    ASSERT_TRUE(eventually([&] { return ensemble_.children("/lock").size() == 2; }));
    waiting.destroy();
    EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").size() == 1; }));
    held.release();
    EXPECT_TRUE(m.acquire());
}

// The grant is on its way to the executor when the coroutine is destroyed.
TEST_F(AwaitedCalls, ADestroyedWaiterReleasesTheGrantThatComesLater) {
    client c = connect();
    tally all;
    mutex m(c, "/lock");
    auto waiting = keep_hold(acquire_by_handler(m), all);
    ASSERT_TRUE(eventually([&] { return queue_.size() == 1; }));
    EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
    waiting.destroy();
    queue_.run_all();
    EXPECT_TRUE(all.held.empty());
    EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").empty(); }));
}

TEST_F(AwaitedCalls, OfALockRecipeKeepTheMessageOfTheirError) {
    client c = connect();
    const auto core = client_core::of(c);
    const acquire_calls calls(core, local_queue::admits::one_at_a_time);
    const auto as = std::make_shared<const queue_recipe>(
        queue_recipe_of(*core, "/secret/lock", lock_names, {}));
    ensemble_.create("/secret");
    ensemble_.set_acl("/secret", {{"world", "anyone", permission::read}});
    tally all;
    const auto refused = keep_hold(calls.acquire_async(as, without_limit, {}), all);
    ASSERT_TRUE(queue_.run_until([&] { return refused.done(); }));
    ASSERT_EQ(all.errors.size(), 1U);
    EXPECT_NE(all.errors.front().find("/secret"), std::string::npos) << all.errors.front();
    const auto open =
        std::make_shared<const queue_recipe>(queue_recipe_of(*core, "/open", lock_names, {}));
    const auto granted = keep_hold(calls.acquire_async(open, without_limit, {}), all);
    ASSERT_TRUE(queue_.run_until([&] { return granted.done(); }));
    EXPECT_EQ(all.held.size(), 1U);
}

}  // namespace
}  // namespace latchkey::test
