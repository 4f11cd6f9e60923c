#include "look/latency.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

constexpr const char* latency_columns = "  {:<14} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}\n";

std::string in_milliseconds(std::chrono::nanoseconds d) {
    return fmt::format("{:.2f}", std::chrono::duration<double, std::milli>(d).count());
}

}  // namespace

latency latency_of(std::vector<std::chrono::nanoseconds> all) {
    if (all.empty()) {
        return {};
    }
    std::sort(all.begin(), all.end());
    const auto at = [&all](std::size_t percent) {
        return all[(all.size() * percent + 99) / 100 - 1];
    };
    return {.count = all.size(),
            .least = all.front(),
            .p50 = at(50),
            .p90 = at(90),
            .p99 = at(99),
            .most = all.back()};
}

std::string latency_header() {
    return fmt::format(latency_columns, "LATENCY (ms)", "COUNT", "MIN", "P50", "P90", "P99", "MAX");
}

std::string text_of(const char* what, const latency& l) {
    return fmt::format(latency_columns,
                       what,
                       l.count,
                       in_milliseconds(l.least),
                       in_milliseconds(l.p50),
                       in_milliseconds(l.p90),
                       in_milliseconds(l.p99),
                       in_milliseconds(l.most));
}

nlohmann::ordered_json json_of(const latency& l) {
    const auto us = [](std::chrono::nanoseconds d) {
        return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
    };
    return {{"count", l.count},
            {"min_us", us(l.least)},
            {"p50_us", us(l.p50)},
            {"p90_us", us(l.p90)},
            {"p99_us", us(l.p99)},
            {"max_us", us(l.most)}};
}

}  // namespace latchkey::cli
