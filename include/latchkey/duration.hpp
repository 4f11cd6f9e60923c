#pragma once

#include <latchkey/export.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <ratio>

namespace latchkey::inline v0 {

/// Any duration of std::chrono or boost::chrono. With it recipes are TimedLockable for the guards
/// of both, and no Boost header is needed here.
template <class D>
concept duration_like = requires(const D& d) {
    { d.count() } -> std::convertible_to<long double>;
    D::period::num;
    D::period::den;
};

/// The timeout of a call that waits for as long as it takes. Timeouts of blocking calls do not
/// count the time in which the machine is suspended; the deadline of a hold does.
inline constexpr auto no_timeout = std::chrono::nanoseconds::max();

/// Any time point of std::chrono or boost::chrono, of any precision.
template <class T>
concept time_point_like = requires(const T& t) {
    { t.time_since_epoch() } -> duration_like;
    { T::clock::now().time_since_epoch() } -> duration_like;
};

/// Converts a duration. Values out of range saturate: `std::chrono::hours::max()` means forever,
/// not a negative number. NaN becomes zero.
template <duration_like D>
[[nodiscard]] constexpr std::chrono::nanoseconds to_nanoseconds(const D& d) noexcept {
    using limits = std::chrono::nanoseconds;
    // Reduce the ratio first, so that a count of nanoseconds stays exact.
    constexpr auto common = std::gcd(std::intmax_t{1'000'000'000}, std::intmax_t{D::period::den});
    constexpr long double factor =
        static_cast<long double>(D::period::num) * (1'000'000'000 / common);
    const long double ns = static_cast<long double>(d.count()) * factor / (D::period::den / common);
    if (ns >= static_cast<long double>(limits::max().count())) {
        return limits::max();
    }
    if (ns <= static_cast<long double>(limits::min().count())) {
        return limits::min();
    }
    return limits(ns == ns ? static_cast<limits::rep>(ns) : 0);
}

/// The time until `deadline`, by the deadline's own clock; zero if it has passed. The last time
/// point of the clock is never reached.
template <time_point_like T>
[[nodiscard]] std::chrono::nanoseconds time_left(const T& deadline) noexcept {
    // Subtracting first could overflow for time_point::max().
    const auto until = to_nanoseconds(deadline.time_since_epoch());
    const auto now = to_nanoseconds(T::clock::now().time_since_epoch());
    if (until == std::chrono::nanoseconds::max()) {
        return until;
    }
    if (until <= now) {
        return std::chrono::nanoseconds::zero();
    }
    const long double left =
        static_cast<long double>(until.count()) - static_cast<long double>(now.count());
    return to_nanoseconds(std::chrono::duration<long double, std::nano>(left));
}

}  // namespace latchkey::inline v0
