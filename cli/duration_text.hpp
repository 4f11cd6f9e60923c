#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// Reads a duration in seconds, a plain decimal such as "10" or "0.25". More than the clock can
/// count is "for ever" (nanoseconds::max()); less than a nanosecond, but not zero, is a nanosecond.
/// Throws usage_error, which names `option`, for everything else: signs, exponents, units, "nan".
[[nodiscard]] std::chrono::nanoseconds parse_seconds(std::string_view option,
                                                     std::string_view text);

/// "2.5 s": for messages.
[[nodiscard]] std::string in_seconds(std::chrono::nanoseconds d);

}  // namespace latchkey::cli
