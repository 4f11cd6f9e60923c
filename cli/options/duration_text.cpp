#include "options/duration_text.hpp"

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr std::int64_t nanoseconds_a_second = 1'000'000'000;

bool digits_only(std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t fraction_in_nanoseconds(std::string_view digits) {
    std::int64_t ns = 0;
    std::int64_t unit = nanoseconds_a_second / 10;
    for (const char c : digits.substr(0, 9)) {
        ns += (c - '0') * unit;
        unit /= 10;
    }
    return ns;
}

}  // namespace

std::chrono::nanoseconds parse_seconds(std::string_view option, std::string_view text) {
    const auto dot = text.find('.');
    const std::string_view whole = text.substr(0, dot);
    const std::string_view fraction =
        dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
    if (text.size() > 1 && text[0] == '-' && digits_only(text.substr(1, 1))) {
        throw usage_error(
            fmt::format("{}: '{}' is negative; give zero or more seconds", option, escaped(text)));
    }
    if ((whole.empty() && fraction.empty()) || !digits_only(whole) || !digits_only(fraction)) {
        throw usage_error(
            fmt::format("{}: '{}' is not a duration; give seconds as a plain decimal, such as 2.5",
                        option,
                        escaped(text)));
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::int64_t seconds = 0;
    for (const char c : whole) {
        // The last whole second is left out, so that the fraction cannot overflow.
        if (seconds > (most / nanoseconds_a_second - 10) / 10) {
            return std::chrono::nanoseconds::max();
        }
        seconds = seconds * 10 + (c - '0');
    }
    const std::int64_t ns = seconds * nanoseconds_a_second + fraction_in_nanoseconds(fraction);
    const bool not_zero = text.find_first_of("123456789") != std::string_view::npos;
    return std::chrono::nanoseconds(ns == 0 && not_zero ? 1 : ns);
}

std::string in_seconds(std::chrono::nanoseconds d) {
    return fmt::format("{} s", std::chrono::duration<double>(d).count());
}

std::string age_text(std::chrono::nanoseconds age) {
    const auto seconds =
        std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(age).count(), 0);
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (seconds < 2 * minute) {
        return fmt::format("{} s", seconds);
    }
    if (seconds < 2 * hour) {
        return fmt::format("{} min", seconds / minute);
    }
    return seconds < 2 * day ? fmt::format("{} h", seconds / hour)
                             : fmt::format("{} d", seconds / day);
}

}  // namespace latchkey::cli
