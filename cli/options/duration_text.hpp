#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace latchkey::cli {

/// Reads a duration in seconds, a plain decimal such as "10" or "0.25". A duration too long for the
/// clock is nanoseconds::max(); one between zero and a nanosecond is a nanosecond. Throws
/// usage_error, which names `option`, for everything else: signs, exponents, units, "nan".
[[nodiscard]] std::chrono::nanoseconds parse_seconds(std::string_view option,
                                                     std::string_view text);

/// "2.5 s", for example: for messages.
[[nodiscard]] std::string in_seconds(std::chrono::nanoseconds d);

/// "12 min", for example: in the largest unit of which there are at least two.
[[nodiscard]] std::string age_text(std::chrono::nanoseconds age);

}  // namespace latchkey::cli
