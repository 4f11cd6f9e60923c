#pragma once

#include "look/queue_json.hpp"
#include "serve/reading.hpp"

#include <optional>

namespace latchkey::cli {

/// What an event of /api/events says about the difference of two readings: `changed` and `removed`
/// locks, `events` as `latchkey watch --json` prints them (at most 200), and whether the picture of
/// the waits has changed. Nothing if they show the same.
[[nodiscard]] std::optional<json_object> changes_json(const reading& before, const reading& now);

/// A lock as a line of `latchkey tree --json`: of a queue, only the holders are listed.
[[nodiscard]] json_object summary_json(const lock_tree_entry& e);

}  // namespace latchkey::cli
