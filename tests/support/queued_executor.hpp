#pragma once

#include <latchkey/function.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace latchkey::test {

/// An executor for client_options::executor. Its functions run where the test lets them run.
class queued_executor {
public:
    using function = move_only_function<void()>;

    [[nodiscard]] std::function<void(function)> executor() {
        return [all = all_](function f) {
            const std::lock_guard<std::mutex> lock(all->guard);
            all->waiting.push_back(std::move(f));
            all->changed.notify_one();
        };
    }

    /// Runs functions on this thread until `condition()` is true; false if it is not in time.
    template <class Condition>
    [[nodiscard]] bool run_until(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!condition()) {
            function next;
            {
                std::unique_lock<std::mutex> lock(all_->guard);
                if (!all_->changed.wait_until(lock, end, [&] { return !all_->waiting.empty(); })) {
                    return false;
                }
                next = std::move(all_->waiting.front());
                all_->waiting.pop_front();
            }
            next();
        }
        return true;
    }

    /// Runs what is there now.
    void run_all() {
        while (size() != 0) {
            static_cast<void>(
                run_until([ran = false]() mutable { return std::exchange(ran, true); }));
        }
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard<std::mutex> lock(all_->guard);
        return all_->waiting.size();
    }

    /// Destroys what has not run.
    void destroy_all() {
        std::deque<function> destroyed;
        const std::lock_guard<std::mutex> lock(all_->guard);
        destroyed.swap(all_->waiting);
    }

private:
    struct functions {
        std::mutex guard;
        std::condition_variable changed;
        std::deque<function> waiting;
    };

    const std::shared_ptr<functions> all_ = std::make_shared<functions>();
};

}  // namespace latchkey::test
