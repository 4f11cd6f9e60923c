#pragma once

#include "loop/blocking_result.hpp"

#include <deque>
#include <functional>
#include <future>
#include <thread>
#include <utility>

namespace latchkey::test {

/// A thread that does what a test asks it to, one thing after the other. So a test can let two
/// threads take turns, each of which stays the same thread.
class second_thread {
public:
    second_thread() = default;
    second_thread(const second_thread&) = delete;
    second_thread& operator=(const second_thread&) = delete;

    ~second_thread() {
        start(nullptr);
        thread_.join();
    }

    /// Returns at once. wait() waits for the end of all that was started.
    void start(std::function<void()> work) {
        const monitor_lock lock(mutex_);
        work_.push_back(std::move(work));
        changed_.notify_all();
    }

    void wait() {
        std::promise<void> reached;
        start([&] { reached.set_value(); });
        reached.get_future().wait();
    }

    /// Waits until it is done.
    void run(std::function<void()> work) {
        start(std::move(work));
        wait();
    }

private:
    void go_on() {
        while (true) {
            std::function<void()> next;
            {
                monitor_lock lock(mutex_);
                while (work_.empty()) {
                    lock.wait(changed_);
                }
                next = std::move(work_.front());
                work_.pop_front();
            }
            if (!next) {
                return;
            }
            next();
        }
    }

    thread_mutex mutex_;
    thread_condition changed_;
    std::deque<std::function<void()>> work_ LATCHKEY_GUARDED_BY(mutex_);
    std::thread thread_{[this] { go_on(); }};
};

}  // namespace latchkey::test
