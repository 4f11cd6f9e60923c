#pragma once

#include <latchkey/boottime_clock.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace latchkey::cli {

/// --max-hold and --min-hold for one hold: how long it may last, and how long it must. Pure: time
/// is a parameter.
class hold_limits {
public:
    using time_point = boottime_clock::time_point;
    using duration = std::optional<std::chrono::nanoseconds>;

    hold_limits() = default;

    hold_limits(time_point granted, duration least, duration most) noexcept
        : least_(least ? after(granted, *least) : granted),
          most_(most ? after(granted, *most) : time_point::max()) {}

    /// By when the command must be dead, for a hold that is valid until then.
    [[nodiscard]] time_point deadline(time_point valid_until) const noexcept {
        return std::min(valid_until, most_);
    }

    /// Whether that is so because of --max-hold.
    [[nodiscard]] bool is_limit(time_point deadline) const noexcept {
        return most_ != time_point::max() && deadline == most_;
    }

    /// How much longer it may be held.
    [[nodiscard]] std::chrono::nanoseconds left(time_point now) const noexcept {
        return most_ == time_point::max() ? std::chrono::nanoseconds::max()
                                          : std::max(most_ - now, time_point::duration::zero());
    }

    /// How much longer it must be held.
    [[nodiscard]] std::chrono::nanoseconds owed(time_point now) const noexcept {
        return std::max(least_ - now, time_point::duration::zero());
    }

private:
    static time_point after(time_point t, std::chrono::nanoseconds d) noexcept {
        return d < time_point::max() - t ? t + d : time_point::max();
    }

    time_point least_{};
    time_point most_ = time_point::max();
};

}  // namespace latchkey::cli
