#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace latchkey::inline v0 {

/// Pauses that double up to a maximum, each drawn from the upper half of its range, so that clients
/// that failed together do not return together.
class backoff {
public:
    using duration = std::chrono::nanoseconds;

    constexpr backoff(duration first, duration cap) noexcept : first_(first), cap_(cap) {}

    /// The next pause. `random` is any uniformly distributed number.
    [[nodiscard]] constexpr duration next(std::uint64_t random) noexcept {
        const duration top = std::min(next_, cap_);
        next_ = top > cap_ / 2 ? cap_ : top * 2;
        const auto half = static_cast<std::uint64_t>(top.count()) / 2;
        return duration(static_cast<duration::rep>(half + random % (half + 1)));
    }

    constexpr void reset() noexcept { next_ = first_; }

private:
    duration first_;
    duration cap_;
    duration next_ = first_;
};

}  // namespace latchkey::inline v0
