#include "loop/callback_thread.hpp"

#include <latchkey/client.hpp>
#include <latchkey/error.hpp>

#include "eventually.hpp"
#include "forked_child.hpp"
#include "session/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace latchkey {
namespace {

using test::eventually;

TEST(CallbackThread, RunsTasksInOrderOnOneThreadOfItsOwn) {
    std::vector<int> ran;
    std::vector<std::thread::id> threads;
    {
        callback_thread c("user");
        for (int i = 0; i < 100; ++i) {
            c.run([&, i] {
                ran.push_back(i);
                threads.push_back(std::this_thread::get_id());
            });
        }
    }
    EXPECT_EQ(ran.size(), 100U);
    EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
    EXPECT_EQ(std::count(threads.begin(), threads.end(), threads.front()), 100);
    EXPECT_NE(threads.front(), std::this_thread::get_id());
}

TEST(CallbackThread, HasRunEverythingWhenDestroyedFromAnotherThread) {
    std::atomic<int> ran{0};
    {
        callback_thread c("user");
        std::promise<void> go;
        auto waiting = go.get_future().share();
        c.run([&ran, waiting] {
            waiting.wait();
            ++ran;
        });
        c.run([&ran] { ++ran; });
        go.set_value();
    }
    EXPECT_EQ(ran, 2);
}

TEST(CallbackThread, MayBeDestroyedByATaskAndRunsTheRest) {
    auto c = std::make_unique<callback_thread>("user");
    std::promise<void> posted;
    std::promise<void> last;
    c->run([&, ready = posted.get_future().share()] {
        ready.wait();
        c.reset();
    });
    c->run([&] { last.set_value(); });
    posted.set_value();
    EXPECT_EQ(last.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(CallbackThread, DestroysATaskBeforeTheNextRuns) {
    auto token = std::make_shared<int>(0);
    long seen = 0;
    callback_thread c("user");
    std::promise<void> done;
    const std::weak_ptr<int> weak = token;
    c.run([t = std::move(token)] {});
    c.run([&] {
        seen = weak.use_count();
        done.set_value();
    });
    done.get_future().wait();
    EXPECT_EQ(seen, 0);
}

std::ptrdiff_t threads_of_this_process() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return std::distance(begin(all), end(all));
}

TEST(CallbackThread, StartsItsThreadBeforeThereIsAnythingToRun) {
    // With the first thread of a process a sanitizer may start one of its own.
    std::promise<void> counted;
    const std::jthread first([&counted] { counted.get_future().wait(); });
    const auto before = threads_of_this_process();
    const callback_thread c("user");
    EXPECT_EQ(threads_of_this_process(), before + 1);
    counted.set_value();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// While it lives no thread can be started: none finds room for its stack.
class no_more_threads {
public:
    no_more_threads() {
        ::pthread_getattr_default_np(&before_);
        pthread_attr_t endless = before_;
        ::pthread_attr_setstacksize(&endless, std::size_t(1) << 47);
        ::pthread_setattr_default_np(&endless);
    }

    no_more_threads(const no_more_threads&) = delete;
    no_more_threads& operator=(const no_more_threads&) = delete;

    ~no_more_threads() { ::pthread_setattr_default_np(&before_); }

private:
    pthread_attr_t before_{};
};

std::error_code code_of_connect() {
    const no_more_threads here;
    try {
        static_cast<void>(client::connect("127.0.0.1:1"));
    } catch (const error& e) {
        return e.code();
    }
    return {};
}

constexpr auto no_resources = std::errc::resource_unavailable_try_again;

TEST(NoMoreThreads, ForTheLoopIsAClearErrorOfConnect) {
    EXPECT_EQ(code_of_connect(), no_resources);
    EXPECT_EQ(client::connect("127.0.0.1:1").state(), connection_state::connecting);
}

TEST(NoMoreThreads, ForCallbacksIsAClearErrorOfConnect) {
    const auto running = process_runtime();
    EXPECT_EQ(code_of_connect(), no_resources);
    EXPECT_EQ(client::connect("127.0.0.1:1").state(), connection_state::connecting);
}
#endif

TEST(CallbackThread, IsInertInAForkedChild) {
    callback_thread c("user");
    std::promise<void> ran;
    c.run([&] { ran.set_value(); });
    ran.get_future().wait();
    EXPECT_TRUE(test::holds_in_a_forked_child([&] {
        c.run([] { ::_exit(1); });
        std::destroy_at(&c);
        return true;
    }));
}

TEST(ProcessEnvironment, SharesOneLoopAndEndsItWithTheLastUser) {
    auto first = process_runtime();
    auto second = process_runtime();
    EXPECT_EQ(first.loop, second.loop);
    const std::weak_ptr<loop> weak = first.loop;
    first = {};
    EXPECT_FALSE(weak.expired());
    second = {};
    EXPECT_TRUE(eventually([&] { return weak.expired(); }));  // a client of before may still close
    EXPECT_NE(process_runtime().loop, nullptr);
}

TEST(ProcessEnvironment, MakesAnExecutorForEachClient) {
    const auto environment = process_runtime();
    std::promise<std::thread::id> a;
    std::promise<std::thread::id> b;
    auto one = environment.callbacks("one");
    auto two = environment.callbacks("two");
    one([&] { a.set_value(std::this_thread::get_id()); });
    two([&] { b.set_value(std::this_thread::get_id()); });
    EXPECT_NE(a.get_future().get(), b.get_future().get());
}

TEST(ProcessEnvironment, IsAFreshOneInAForkedChild) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the sanitizer ends a forked child that starts a thread";
#endif
    const auto parents = process_runtime();
    EXPECT_TRUE(test::holds_in_a_forked_child([&] {
        const auto own = process_runtime();
        std::promise<void> ran;
        own.loop->post([&] { ran.set_value(); });
        return own.loop != parents.loop &&
               ran.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    }));
}

}  // namespace
}  // namespace latchkey
