#pragma once

#include <latchkey/inspect.hpp>

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace latchkey::cli {

/// One difference between two views of a path.
struct queue_change {
    /// A stable name: "kind" and "malformed" for the path; for a participant "present" (in the
    /// first view), "joined", "granted", "mode", "demoted" (it held, and waits), "released" (it
    /// held) or "left" (it waited).
    const char* event = "";
    std::optional<participant> who = {};
    std::vector<std::string> names = {};  ///< of malformed children
};

/// What has happened since `before`, in the order of leaving, the path, and the queue. A
/// participant that came and went in between is not seen.
[[nodiscard]] std::vector<queue_change> changes_between(const std::optional<queue_view>& before,
                                                        const queue_view& now);

/// "granted exclusive build@ci-4 (pid 812, backup) _c_...-lock-0000000007"
[[nodiscard]] std::string text_of(const queue_change& c, const queue_view& now);

[[nodiscard]] nlohmann::ordered_json json_of(const queue_change& c, const queue_view& now);

}  // namespace latchkey::cli
