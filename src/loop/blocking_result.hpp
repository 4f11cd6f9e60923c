#pragma once

#include "loop/monitor.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace latchkey {

/// A result that one thread waits for and that the loop or a callback delivers.
template <class Result>
class blocking_result {
public:
    /// The first call takes effect; later results are dropped.
    void set(Result r) {
        const monitor_lock lock(mutex_);
        if (!result_) {
            result_.emplace(std::move(r));
            changed_.notify_all();  // locked: a waiter may destroy this once it can look
        }
    }

    /// Waits without a limit. An interruption point of Boost.Thread.
    Result get() {
        monitor_lock lock(mutex_);
        while (!result_) {
            lock.wait(changed_);
        }
        return std::move(*result_);
    }

    /// Waits for at most `limit`. An interruption point of Boost.Thread.
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
