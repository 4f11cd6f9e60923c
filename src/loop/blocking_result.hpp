#pragma once

#include "loop/monitor.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace latchkey {

/// A result that one thread waits for and the loop, or a callback, delivers.
template <class Result>
class blocking_result {
public:
    /// At most once takes effect; later ones are dropped.
    void set(Result r) {
        const monitor_lock lock(mutex_);
        if (!result_) {
            result_.emplace(std::move(r));
            changed_.notify_all();  // locked: who waits may destroy this as soon as it can look
        }
    }

    /// Waits without limit; an interruption point of Boost.Thread.
    Result get() {
        monitor_lock lock(mutex_);
        while (!result_) {
            lock.wait(changed_);
        }
        return std::move(*result_);
    }

    /// Waits for at most `limit`; an interruption point of Boost.Thread.
    std::optional<Result> get_for(std::chrono::nanoseconds limit) {
        const auto deadline = deadline_after(limit);
        monitor_lock lock(mutex_);
        while (!result_) {
            if (!lock.wait_until(changed_, deadline) && !result_) {
                return std::nullopt;
            }
        }
        return std::move(result_);
    }

private:
    boost::mutex mutex_;
    boost::condition_variable changed_;
    std::optional<Result> result_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey
