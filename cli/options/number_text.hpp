#pragma once

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace latchkey::cli {

/// The number that `text` is, if it is a whole one from `least` to `most`.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, Number least, Number most) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, value);
    const bool valid = error == std::errc() && read == end && value >= least && value <= most;
    return valid ? std::optional(value) : std::nullopt;
}

/// The number in the value of an option. Throws usage_error, which says what it is not.
template <class Number>
[[nodiscard]] Number number_from(std::string_view option,
                                 const std::string& text,
                                 Number least,
                                 Number most,
                                 std::string_view what = "a number; give") {
    const auto found = number_in<Number>(text, least, most);
    if (!found) {
        throw usage_error(
            fmt::format("{}: '{}' is not {} {} to {}", option, escaped(text), what, least, most));
    }
    return *found;
}

}  // namespace latchkey::cli
