#pragma once

#include "loop/backoff.hpp"
#include "loop/loop.hpp"
#include "loop/task.hpp"

#include <chrono>
#include <utility>

namespace latchkey::inline v0 {

/// Decides when to repeat a step that servers refused or that had no effect: never as fast as they
/// answer. On the loop only.
///
/// Pauses double from 10 ms to a second, each drawn from the upper half of its range. They start
/// again from 10 ms when a step was not repeated for as long as the longest pause. So once a step
/// has been repeated for a second, it is repeated at most three times in any second, and twice on
/// average.
class paced_retry {
public:
    explicit paced_retry(loop& l, backoff::duration longest = std::chrono::seconds(1)) noexcept
        : timer_(l), pauses_(std::chrono::milliseconds(10), longest) {}

    /// Takes `step` after a pause, instead of one that is waited for.
    void later(loop::task step) { take(note_repetition(), std::move(step)); }

    /// For a step that failed because something has changed meanwhile, and may well succeed now:
    /// the first few times inside this call, which may destroy this object; then after a pause.
    void soon(loop::task step) {
        const auto pause = note_repetition();
        if (repeated_ > at_once) {
            take(pause, std::move(step));
        } else {
            cancel();
            pauses_.reset();
            last_ = timer_.runs_on().now();
            step();
        }
    }

    /// For a task, which takes the step itself: as later().
    [[nodiscard]] auto pause() {
        return until_called_back([this](loop::task resume) { later(std::move(resume)); });
    }

    /// For a task: as soon().
    [[nodiscard]] auto short_pause() {
        return until_called_back([this](loop::task resume) { soon(std::move(resume)); });
    }

    void cancel() noexcept { timer_.cancel(); }

    [[nodiscard]] bool running() const noexcept { return timer_.running(); }

private:
    /// More than two clients that interfere with each other need, as a rule.
    static constexpr int at_once = 4;

    backoff::duration note_repetition() {
        if (repeated_ > 0 && timer_.runs_on().now() - last_ > pauses_.cap()) {
            repeated_ = 0;
            pauses_.reset();
        }
        ++repeated_;
        return pauses_.next(timer_.runs_on().random());
    }

    void take(backoff::duration pause, loop::task step) {
        last_ = timer_.runs_on().now() + pause;
        timer_.start(last_, std::move(step));
    }

    timer timer_;
    backoff pauses_;
    int repeated_ = 0;  ///< since the last rest
    loop::clock::time_point last_{};
};

}  // namespace latchkey::inline v0
