#pragma once

#include "loop/interruption.hpp"
#include "loop/monitor.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

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

    /// Waits without a limit. An interruption point of Boost.Thread, also if the result is there.
    Result get() {
        interruption_point();
        monitor_lock lock(mutex_);
        while (!result_) {
            lock.wait(changed_);
        }
        return std::move(*result_);
    }

    /// As get(), for a call that can be given up: when the thread is interrupted, calls `cancel()`
    /// and waits for the result to which that leads, before the interruption goes on.
    template <class Cancel>
    Result get_or(Cancel cancel) {
        try {
            return get();
        } catch (...) {  // boost::thread_interrupted: nothing else is thrown here
            const uninterrupted until_the_result;
            cancel();
            get();
            throw;
        }
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
    thread_mutex mutex_;
    thread_condition changed_;
    std::optional<Result> result_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v0
