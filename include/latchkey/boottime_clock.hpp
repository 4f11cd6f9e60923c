#pragma once

#include <latchkey/export.hpp>

#include <chrono>
#include <ctime>

namespace latchkey::inline v0 {

/// CLOCK_BOOTTIME as a chrono clock: monotonic, and it also runs while the machine is suspended.
///
/// Holds measure their validity on it, because a session expires on the servers whether or not this
/// machine is awake. `std::chrono::steady_clock` stops during a suspend, so a hold would stay valid
/// for too long.
struct boottime_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<boottime_clock>;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() noexcept {
        timespec t{};
        ::clock_gettime(CLOCK_BOOTTIME, &t);
        return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
    }
};

}  // namespace latchkey::inline v0
