#pragma once

#include <latchkey/boottime_clock.hpp>

#include <chrono>

namespace latchkey::cli {

/// Decides when a command gets TERM and KILL, so that it is dead before another client can acquire
/// the lock. Pure: time is a parameter.
///
/// TERM is due at deadline - grace, KILL at deadline - `safety`. The deadline moves as long as the
/// hold is renewed. TERM is final: if the hold is renewed later, KILL is still due when it was.
class kill_schedule {
public:
    using time_point = boottime_clock::time_point;

    enum class stage { running, terminating, killing };

    /// Timers and the kernel's scheduling may be late by this.
    static constexpr std::chrono::milliseconds safety{100};

    kill_schedule(time_point deadline, std::chrono::nanoseconds grace) noexcept;

    /// Replaces the deadline, also by an earlier one. Ignored after TERM.
    void move_deadline(time_point deadline) noexcept;

    /// Makes TERM and KILL due at once: the hold is lost, or latchkey is dead.
    void end_now() noexcept;

    /// When advance() will change the stage; time_point::max() in the last stage.
    [[nodiscard]] time_point next() const noexcept;

    /// The stage at `now`. Never goes back.
    stage advance(time_point now) noexcept;

    [[nodiscard]] stage present() const noexcept { return stage_; }

private:
    time_point deadline_;
    std::chrono::nanoseconds grace_;
    stage stage_ = stage::running;
};

}  // namespace latchkey::cli
