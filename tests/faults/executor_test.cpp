#include <latchkey/ensemble.hpp>
#include <latchkey/leader_latch.hpp>
#include <latchkey/mutex.hpp>

#include "client/user_callbacks.hpp"
#include "ensemble/virtual/virtual_loop.hpp"
#include "eventually.hpp"
#include "loop/blocking_result.hpp"
#include "queued_executor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

namespace latchkey::test {
namespace {

using namespace std::chrono_literals;
using testing::ensemble;

/// A client whose callbacks run on the thread of the test, when that lets them.
class UsersExecutor : public ::testing::Test {
protected:
    client connect(client_options o = {.session_timeout = 10s}) {
        o.executor = queue_.executor();
        client c = ensemble_.connect(std::move(o));
        EXPECT_TRUE(c.wait_connected(30s));
        return c;
    }

    ensemble ensemble_;
    queued_executor queue_;
};

std::size_t threads_named(std::string_view name) {
    std::size_t found = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string of_task;
        std::ifstream(task.path() / "comm") >> of_task;
        found += of_task == name ? 1 : 0;
    }
    return found;
}

TEST_F(UsersExecutor, RunsEveryCallbackInsteadOfAThread) {
    const auto here = std::this_thread::get_id();
    std::vector<std::string> ran;
    const auto note = [&](const char* what) {
        EXPECT_EQ(std::this_thread::get_id(), here) << what;
        if (std::find(ran.begin(), ran.end(), what) == ran.end()) {
            ran.emplace_back(what);
        }
    };
    // Those of earlier clients may still be ending.
    ASSERT_TRUE(eventually([&] { return threads_named("latchkey-user") == 0; }));
    client c = connect({.session_timeout = 10s, .log = [&](auto&&) { note("log"); }});
    EXPECT_EQ(threads_named("latchkey-user"), 0U);
    const subscription listening = c.on_change([&](connection_state) { note("listener"); });
    mutex m(c, "/lock");
    m.async_acquire({.stop = {}, .reserved = [&](const auto&) { note("reserved"); }},
                    [&](std::error_code ec, const hold& h) {
                        EXPECT_FALSE(ec);
                        EXPECT_TRUE(h);
                        note("handler");
                        throw 1;  // which is logged
                    });
    EXPECT_TRUE(queue_.run_until([&] { return ran.size() >= 3; }));
    c.close();
    EXPECT_TRUE(queue_.run_until([&] { return ran.size() == 4; }));
}

TEST_F(UsersExecutor, RunsCallbacksOneAtATimeAndInOrderOnAPool) {
    constexpr int count = 200;
    std::vector<int> order;  // a data race, if two callbacks run at once
    boost::asio::thread_pool pool(4);
    {
        blocking_result<bool> all;
        client c = ensemble_.connect({.session_timeout = 10s, .executor = [&pool](auto f) {
                                          boost::asio::post(pool, std::move(f));
                                      }});
        mutex m(c, "/lock");
        for (int i = 0; i < count; ++i) {
            m.async_acquire({}, [&, i](std::error_code, hold h) {
                order.push_back(i);
                h.release();
                if (i == count - 1) {
                    all.set(true);
                }
            });
        }
        EXPECT_TRUE(all.get_for(60s));
    }
    pool.join();
    ASSERT_EQ(order.size(), std::size_t(count));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(UsersExecutor, RefusesCallsThatBlockInCallbacksOnly) {
    client c = connect();
    mutex m(c, "/lock");
    mutex other(c, "/other");
    std::optional<std::error_code> refused;
    m.async_acquire({}, [&](std::error_code, const hold&) {
        std::error_code ec;
        EXPECT_FALSE(other.try_acquire(ec));
        refused = ec;
    });
    EXPECT_TRUE(queue_.run_until([&] { return refused.has_value(); }));
    EXPECT_EQ(*refused, errc::would_deadlock);
    EXPECT_TRUE(other.acquire()) << "on the same thread, but not in a callback";
}

TEST_F(UsersExecutor, DelaysNoNewsOfALoss) {
    client c = connect();
    mutex m(c, "/lock");
    const hold h = m.acquire();
    blocking_result<bool> lost;
    const std::stop_callback on_loss(h.lost(), [&] { lost.set(true); });
    ensemble_.expire(c.session_id());
    EXPECT_TRUE(lost.get_for(30s)) << "though the executor runs nothing";
}

// Every wait in close() is shorter than the limit that it states, which here no test would survive.
TEST_F(UsersExecutor, ThatNeverRunsAgainDelaysNoDestructor) {
    const auto captured = std::make_shared<int>(0);
    hold kept;
    {
        client c = connect({.session_timeout = 10s, .close_timeout = 1h});
        const subscription listening = c.on_change([captured](connection_state) {});
        mutex m(c, "/lock");
        mutex other(c, "/other");
        kept = other.acquire();
        m.async_acquire({}, [captured](std::error_code, const hold&) {});
        c.close();
        EXPECT_EQ(c.state(), connection_state::closed);
        c.close();
    }
    EXPECT_GT(queue_.size(), 0U);
    queue_.destroy_all();
    EXPECT_TRUE(eventually([&] { return captured.use_count() == 1; }));
    EXPECT_FALSE(kept.valid());
}

TEST_F(UsersExecutor, RunsTheRestAfterTheClientIsGone) {
    std::vector<std::error_code> told;
    const auto note = [&](std::error_code ec, const hold&) { told.push_back(ec); };
    {
        client holder = ensemble_.connect({.session_timeout = 10s});
        mutex theirs(holder, "/lock");
        const hold h = theirs.acquire();
        client c = connect();
        mutex m(c, "/lock");
        m.async_acquire({}, note);
        m.async_acquire({}, note);
        c.close();
    }
    EXPECT_TRUE(told.empty());
    EXPECT_TRUE(queue_.run_until([&] { return told.size() == 2; }));
    EXPECT_EQ(told, (std::vector<std::error_code>(2, errc::closed)));
}

TEST_F(UsersExecutor, ThatDestroysAFunctionReleasesTheHoldInIt) {
    client c = connect();
    mutex m(c, "/lock");
    m.async_acquire({}, [](std::error_code, const hold&) { ADD_FAILURE() << "called"; });
    EXPECT_TRUE(eventually([&] { return queue_.size() == 1; }));
    EXPECT_EQ(ensemble_.children("/lock").size(), 1U);
    queue_.destroy_all();
    EXPECT_TRUE(eventually([&] { return ensemble_.children("/lock").empty(); }));
    EXPECT_TRUE(m.acquire()) << "the next participant of the same object";
}

TEST_F(UsersExecutor, ThatDestroysAFunctionDoesNotKeepALeadersZnode) {
    client c = connect();
    leader_latch latch(c, "/leader");
    latch.start();
    EXPECT_TRUE(eventually([&] { return latch.is_leader(); }));
    latch.resign();
    EXPECT_TRUE(eventually([&] { return queue_.size() == 1; }));
    EXPECT_FALSE(latch.is_leader());
    queue_.destroy_all();
    EXPECT_TRUE(eventually([&] { return latch.is_leader(); })) << "in the next term";
}

// After that the program may destroy what its executor refers to.
TEST(UserCallbacks, CallNoExecutorAfterTheirEndWasReported) {
    runtime env;
    env.loop = virtual_loop::make(virtual_loop::mode::stepped, 1);
    env.callbacks = [](const char*) -> runtime::executor {
        return [](move_only_function<void()> f) { f(); };  // the stop thread is quick
    };
    int calls = 0;
    const auto callbacks = std::make_shared<user_callbacks>(
        env, nullptr, [&calls](const move_only_function<void()>&) { ++calls; });
    int calls_until_the_end = -1;
    callbacks->end([&] { calls_until_the_end = calls; });
    EXPECT_EQ(calls_until_the_end, calls);
}

}  // namespace
}  // namespace latchkey::test
