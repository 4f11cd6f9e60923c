#include "output/json_text.hpp"

#include <ctime>
#include <string_view>

#include <fmt/format.h>

namespace latchkey::cli {

std::string session_text(std::int64_t session_id) {
    return fmt::format("{:#x}", static_cast<std::uint64_t>(session_id));
}

std::string time_text(std::chrono::system_clock::time_point t) {
    std::string text = second_text(t);
    const auto second = std::chrono::floor<std::chrono::seconds>(t);
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(t - second);
    text.pop_back();
    return fmt::format("{}.{:03}Z", text, milliseconds.count());
}

std::string second_text(std::chrono::system_clock::time_point t) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(t);
    const time_t whole = std::chrono::system_clock::to_time_t(seconds);
    tm parts{};
    ::gmtime_r(&whole, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, "%FT%TZ", &parts)};
}

}  // namespace latchkey::cli
