#pragma once

#include "loop/loop.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace latchkey::inline v0 {

/// Limits how many requests are in flight of those that thousands of recipes send together: when
/// they join, and on a new connection. The others wait here, first come, first served. Heartbeats,
/// deletes and transactions do not use the window, so they never wait behind more requests than it
/// lets through. On the loop only.
class send_window {
public:
    /// Enough for 50,000 requests a second with round trips of 10 ms.
    static constexpr std::size_t width = 512;

    /// Runs `t`, which sends requests: at once, or when enough other requests have been answered.
    template <class Task>
    void enter(Task t) {
        if (in_flight_ < width && waiting_.empty()) {
            run(t);
        } else {
            waiting_.emplace_back(std::move(t));
        }
    }

    /// Whether requests that are sent now count.
    [[nodiscard]] bool is_entered() const noexcept { return entered_; }

    void sent() noexcept { ++in_flight_; }

    void answered() {
        --in_flight_;
        while (in_flight_ < width && !waiting_.empty() && !entered_) {
            const auto next = std::move(waiting_.front());
            waiting_.pop_front();
            run(next);
        }
    }

private:
    template <class Task>
    void run(const Task& t) {
        const bool before = std::exchange(entered_, true);
        t();
        entered_ = before;
    }

    std::deque<loop::task> waiting_;
    std::size_t in_flight_ = 0;
    bool entered_ = false;
};

}  // namespace latchkey::inline v0
