#pragma once

#include <latchkey/inspect.hpp>
#include <latchkey/lock_tree.hpp>
#include <latchkey/participant.hpp>
#include <latchkey/wait_graph.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace latchkey::cli {

/// The order of the fields is that of docs/commands.md, which describes them.
using json_object = nlohmann::ordered_json;

[[nodiscard]] json_object json_of(const participant& p, lock_kind k);

/// A path, its kind, its holders and its queue.
[[nodiscard]] json_object json_of(const queue_view& v);

/// The same with its type, "lock" or "unreadable", and all that wait counted.
[[nodiscard]] json_object json_of(const lock_tree_entry& e);

[[nodiscard]] json_object json_of(const lock_wait& w);

/// "0x100003f2a4b0001": a number of 64 bits would not survive every JSON reader.
[[nodiscard]] std::string session_text(std::int64_t session_id);

/// "2026-11-23T09:30:00.123Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point t);

/// One line, in ASCII: what other programs have written is escaped.
[[nodiscard]] std::string line_of(const json_object& o);

}  // namespace latchkey::cli
