#pragma once

#include "loop/backoff.hpp"
#include "loop/loop.hpp"
#include "loop/task.hpp"

#include <chrono>
#include <memory>
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
    explicit paced_retry(loop& l) noexcept : loop_(&l) {}

    /// With another longest pause.
    paced_retry(loop& l, backoff::duration longest)
        : loop_(&l), rhythm_(std::make_unique<rhythm>(l, longest)) {}

    /// Takes `step` after a pause, instead of one that is waited for.
    void later(loop::task step) { take(note_repetition(), std::move(step)); }

    /// For a step that failed because something has changed meanwhile, and may well succeed now:
    /// the first few times inside this call, which may destroy this object; then after a pause.
    void soon(loop::task step) {
        const auto pause = note_repetition();
        if (rhythm_->repeated > at_once) {
            take(pause, std::move(step));
        } else {
            cancel();
            rhythm_->pauses.reset();
            rhythm_->last = loop_->now();
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

    void cancel() noexcept {
        if (rhythm_) {
            rhythm_->next.cancel();
        }
    }

    [[nodiscard]] bool running() const noexcept { return rhythm_ && rhythm_->next.running(); }

private:
    /// More than two clients that interfere with each other need, as a rule.
    static constexpr int at_once = 4;

    struct rhythm {
        rhythm(loop& l, backoff::duration longest_pause)
            : next(l), longest(longest_pause), pauses(std::chrono::milliseconds(10), longest) {}

        timer next;
        const backoff::duration longest;
        backoff pauses;
        int repeated = 0;  ///< since the last rest
        loop::clock::time_point last{};
    };

    backoff::duration note_repetition() {
        if (!rhythm_) {
            rhythm_ = std::make_unique<rhythm>(*loop_, std::chrono::seconds(1));
        }
        rhythm& r = *rhythm_;
        if (r.repeated > 0 && loop_->now() - r.last > r.longest) {
            r.repeated = 0;
            r.pauses.reset();
        }
        ++r.repeated;
        return r.pauses.next(loop_->random());
    }

    void take(backoff::duration pause, loop::task step) {
        rhythm_->last = loop_->now() + pause;
        rhythm_->next.start(rhythm_->last, std::move(step));
    }

    loop* loop_;
    std::unique_ptr<rhythm> rhythm_;  ///< none until a step is repeated: few are
};

}  // namespace latchkey::inline v0
