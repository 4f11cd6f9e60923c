#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// How long requests of one kind took.
struct latency {
    std::size_t count = 0;
    std::chrono::nanoseconds least{};
    std::chrono::nanoseconds p50{};
    std::chrono::nanoseconds p90{};
    std::chrono::nanoseconds p99{};
    std::chrono::nanoseconds most{};
};

/// Percentiles are those of the nearest rank: the least value that so many percent do not exceed.
[[nodiscard]] latency latency_of(std::vector<std::chrono::nanoseconds> all);

/// The names of the columns that text_of() fills.
[[nodiscard]] std::string latency_header();

/// One line in milliseconds.
[[nodiscard]] std::string text_of(const char* what, const latency& l);

/// In whole microseconds.
[[nodiscard]] nlohmann::ordered_json json_of(const latency& l);

}  // namespace latchkey::cli
