#pragma once

#include "loop/loop.hpp"

#include <cstddef>
#include <deque>
#include <utility>

namespace latchkey::inline v0 {

/// Limits how many requests are in flight of those that thousands of recipes send together: when
/// they join, and on a new connection. The others wait here, first come, first served; but what has
/// begun goes on before anything new begins, because it takes more memory. Heartbeats, deletes and
/// transactions do not use the window, so they never wait behind more requests than it lets
/// through. On the loop only.
class send_window {
public:
    /// Enough for 50,000 requests a second with round trips of 10 ms.
    static constexpr std::size_t width = 512;

    /// Runs `t`, which sends requests: at once, or when enough other requests have been answered.
    /// What was let in already is let in at once.
    template <class Task>
    void enter(Task t) {
        if (entered_ || (has_room() && waiting_.empty())) {
            run(t);
            let_in();
        } else {
            waiting_.emplace_back(std::move(t));
        }
    }

    /// As enter(), for a `t` that begins something.
    template <class Task>
    void begin(Task t) {
        if (has_room() && waiting_.empty() && beginning_.empty()) {
            run(t);
            let_in();
        } else {
            beginning_.emplace_back(std::move(t));
        }
    }

    /// Whether requests that are sent now count.
    [[nodiscard]] bool is_entered() const noexcept { return entered_; }

    void sent() noexcept { ++in_flight_; }

    void answered() {
        --in_flight_;
        let_in();
    }

private:
    [[nodiscard]] bool has_room() const noexcept { return in_flight_ < width; }

    /// What is answered while a task runs lets others in when it has returned.
    void let_in() {
        while (has_room() && !entered_ && (!waiting_.empty() || !beginning_.empty())) {
            auto& first = waiting_.empty() ? beginning_ : waiting_;
            const auto next = std::move(first.front());
            first.pop_front();
            run(next);
        }
    }

    template <class Task>
    void run(const Task& t) {
        const bool before = std::exchange(entered_, true);
        t();
        entered_ = before;
    }

    std::deque<loop::task> waiting_;
    std::deque<loop::task> beginning_;
    std::size_t in_flight_ = 0;
    bool entered_ = false;
};

}  // namespace latchkey::inline v0
