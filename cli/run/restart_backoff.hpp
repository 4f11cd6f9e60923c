#pragma once

#include <algorithm>
#include <chrono>

namespace latchkey::cli {

/// How long to wait before a command that has ended is run again. The pause doubles each time that
/// the command ended soon, so that a host on which it cannot work leaves the leadership to others.
/// Pure: time is a parameter.
class restart_backoff {
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds first{250};
    static constexpr std::chrono::seconds longest{30};

    void begun(clock::time_point now) noexcept { begun_ = now; }

    void ended(clock::time_point now) noexcept {
        if (now - begun_ > longest) {
            next_ = first;
        }
        until_ = now + next_;
        next_ = std::min<std::chrono::milliseconds>(next_ * 2, longest);
    }

    /// No pause before the next run.
    void skip(clock::time_point now) noexcept { until_ = now; }

    /// The rest of the pause.
    [[nodiscard]] std::chrono::nanoseconds left(clock::time_point now) const noexcept {
        return std::max(until_ - now, clock::duration::zero());
    }

private:
    clock::time_point begun_;
    clock::time_point until_;
    std::chrono::milliseconds next_ = first;
};

}  // namespace latchkey::cli
