// Ten thousand locks, held at the same time by one thread. Each is acquired by a coroutine, and
// none of them blocks the thread. Give it a connect string, or nothing: then it brings an ensemble.
#include <latchkey/awaitable.hpp>
#include <latchkey/ensemble.hpp>
#include <latchkey/mutex.hpp>

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

constexpr std::size_t count = 10'000;

/// What the thread of this program has to run. A real program has an event loop, such as
/// boost::asio::io_context, and includes latchkey/asio.hpp.
class event_queue {
public:
    using function = latchkey::move_only_function<void()>;

    void add(function f) {
        const std::lock_guard<std::mutex> lock(guard_);
        waiting_.push_back(std::move(f));
        changed_.notify_one();
    }

    /// Waits for the next function and runs it.
    void run_one() {
        std::unique_lock<std::mutex> lock(guard_);
        changed_.wait(lock, [this] { return !waiting_.empty(); });
        function next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        next();
    }

private:
    std::mutex guard_;
    std::condition_variable changed_;
    std::deque<function> waiting_;
};

/// A coroutine that runs by itself. The library has none: frameworks bring theirs.
struct fire_and_forget {
    struct promise_type {
        static fire_and_forget get_return_object() { return {}; }

        static std::suspend_never initial_suspend() noexcept { return {}; }

        static std::suspend_never final_suspend() noexcept { return {}; }

        static void return_void() {}

        [[noreturn]] static void unhandled_exception() { std::terminate(); }
    };
};

struct results {
    std::vector<latchkey::hold> held;
    std::size_t failed = 0;
};

/// The hold outlives the mutex object.
fire_and_forget acquire_one(latchkey::client& zk, std::size_t number, results& all) {
    latchkey::mutex m(zk, "/ten-thousand/" + std::to_string(number));
    try {
        latchkey::hold h = co_await m.acquire_async();
        all.held.push_back(std::move(h));
    } catch (const latchkey::error& e) {
        ++all.failed;
        std::cerr << e.what() << '\n';
    }
}

int main(int argc, char** argv) {
    event_queue events;  // outlives the client
    std::optional<latchkey::testing::ensemble> servers;
    results all;
    const latchkey::client_options how{
        .session_timeout = 30s,
        .close_timeout = 60s,
        .executor = [&events](event_queue::function f) { events.add(std::move(f)); }};
    latchkey::client zk =
        argc > 1 ? latchkey::client::connect(argv[1], how) : servers.emplace().connect(how);

    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        acquire_one(zk, i, all);
    }
    while (all.held.size() + all.failed < count) {
        events.run_one();  // every coroutine continues here
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;

    std::size_t valid = 0;
    for (const latchkey::hold& h : all.held) {
        valid += h.valid() ? 1 : 0;
    }
    std::cout << valid << " locks are held after " << time.count() << " s\n";
    return valid == count ? 0 : 1;
}
