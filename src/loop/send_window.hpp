#pragma once

#include "loop/loop.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace latchkey {

/// Bounds how many requests are in flight of those that thousands of recipes send together: when
/// they join, and at a new connection. The rest waits here, first come first served. Heartbeats,
/// deletes and transactions do not go through it, and so never wait behind more than it lets
/// through. On the loop only.
class send_window {
public:
    /// Enough for 50,000 requests a second over a round trip of 10 ms.
    static constexpr std::size_t width = 512;

    /// Runs `t`, which sends requests: at once, or when enough of the others have been answered.
    template <class Task>
    void enter(Task t) {
        if (in_flight_ < width && waiting_.empty()) {
            run(t);
        } else {
            waiting_.emplace_back(std::move(t));
        }
    }

    /// Whether what is sent now counts.
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

}  // namespace latchkey
