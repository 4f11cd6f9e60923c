#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace latchkey::cli {

/// The order of the fields is that of docs/commands.md, which describes them.
using json_object = nlohmann::ordered_json;

/// "0x100003f2a4b0001": a number of 64 bits would not survive every JSON reader.
[[nodiscard]] std::string session_text(std::int64_t session_id);

/// "2026-11-23T09:30:00.123Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point t);

/// As time_text(), for people, without the milliseconds: "2026-10-04T09:30:00Z".
[[nodiscard]] std::string second_text(std::chrono::system_clock::time_point t);

/// In ASCII, without a line break: what other programs have written is escaped.
template <class Json>
[[nodiscard]] std::string ascii_text(const Json& j) {
    return j.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// That, as a line.
[[nodiscard]] inline std::string line_of(const json_object& o) {
    return ascii_text(o) + '\n';
}

}  // namespace latchkey::cli
