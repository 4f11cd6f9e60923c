#pragma once

#include <latchkey/boottime_clock.hpp>

#include <chrono>

namespace latchkey::cli {

/// Decides when a command must be told to end and when it must be killed, so that it is gone before
/// the lock can be granted to anybody else. Pure: it is told the time.
///
/// TERM at deadline - grace, KILL at deadline - `safety`. The deadline moves on as long as the hold
/// is renewed. TERM is final: a hold that is renewed after it changes nothing any more, the command
/// is ending and KILL comes when it was due.
class kill_schedule {
public:
    using time_point = boottime_clock::time_point;

    enum class stage { running, terminating, killing };

    /// What a timer and the kernel's scheduling may be late by.
    static constexpr std::chrono::milliseconds safety{100};

    kill_schedule(time_point deadline, std::chrono::nanoseconds grace) noexcept;

    /// The hold is valid until `deadline` now; it may also move back. Kept only while running.
    void move_deadline(time_point deadline) noexcept;

    /// Both at once: nobody renews the hold any more.
    void end_now() noexcept;

    /// When advance() has something to do next; time_point::max() when it has nothing any more.
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
