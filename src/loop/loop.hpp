#pragma once

#include <latchkey/boottime_clock.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace latchkey::inline v0 {

/// Where sessions, clients and recipes run: one task at a time, in the order posted, with timers
/// and random numbers.
///
/// A state machine of this library gets everything from outside through this interface. So the same
/// code runs on the process's event thread and, replayed from a seed, on a virtual clock. Tasks
/// must not block and must not throw.
class loop {
public:
    using clock = boottime_clock;
    using task = std::function<void()>;
    using timer_id = std::uint64_t;  ///< never 0

    loop() = default;
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;
    virtual ~loop() = default;

    /// The time of this loop's clock. Any thread.
    [[nodiscard]] virtual clock::time_point now() const noexcept = 0;

    /// Runs `t` on the loop, after everything that was posted before. Any thread. Never runs `t`
    /// inside this call.
    virtual void post(task t) = 0;

    /// Runs `t` on the loop once `now() >= at`. On the loop only.
    virtual timer_id start_timer(clock::time_point at, task t) = 0;

    /// Cancels a timer. A timer that has run or is unknown is ignored. On the loop only.
    virtual void cancel_timer(timer_id id) noexcept = 0;

    /// A uniformly distributed number, for jitter and identifiers. On the loop only.
    [[nodiscard]] virtual std::uint64_t random() = 0;

    /// True on the thread that runs the tasks, while it runs one.
    [[nodiscard]] virtual bool on_loop() const noexcept = 0;

    /// True if nothing runs unless the owner of the loop steps it. Waiting for such a loop would
    /// never end.
    [[nodiscard]] virtual bool stepped() const noexcept { return false; }
};

/// The time at which `limit` is over; never, if that is beyond the range of the clock.
[[nodiscard]] inline loop::clock::time_point time_after(loop& l, std::chrono::nanoseconds limit) {
    const auto now = l.now();
    return limit > loop::clock::time_point::max() - now ? loop::clock::time_point::max()
                                                        : now + limit;
}

/// One timer of a loop, canceled when it goes out of scope. On the loop only.
class timer {
public:
    explicit timer(loop& l) noexcept : loop_(&l) {}

    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    ~timer() { cancel(); }

    /// Replaces what was set before.
    /// A task that captures no more than a pointer takes no memory of its own.
    template <class Task>
    void start(loop::clock::time_point at, Task t) {
        cancel();
        id_ = loop_->start_timer(at, [this, t = std::move(t)] {
            id_ = 0;
            // The task may destroy this timer, and with it the closure that runs.
            auto task = t;
            task();
        });
    }

    template <class Task>
    void start(loop::clock::duration after, Task t) {
        start(loop_->now() + after, std::move(t));
    }

    void cancel() noexcept {
        if (id_ != 0) {
            loop_->cancel_timer(std::exchange(id_, 0));
        }
    }

    [[nodiscard]] bool running() const noexcept { return id_ != 0; }

    [[nodiscard]] latchkey::loop& runs_on() const noexcept { return *loop_; }

private:
    latchkey::loop* loop_;
    loop::timer_id id_ = 0;
};

}  // namespace latchkey::inline v0
