#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace latchkey::history {

/// What a leader writes on the servers under the guard of its term: into one znode, over what was
/// there, so that the servers' log has the effects of all leaders in one order.
struct guarded_effect {
    enum class outcome : std::uint8_t {
        unknown,
        applied,
        refused,  ///< and nothing was done
    };

    std::int64_t token = 0;
    std::int64_t number = 0;  ///< no other one of this token has it
    outcome told = outcome::unknown;

    /// What is written.
    [[nodiscard]] std::string data() const;
    /// Reads it again; nothing if it is something else.
    [[nodiscard]] static std::optional<guarded_effect> read(std::string_view data);

    /// Where to, for an election on `path`.
    [[nodiscard]] static std::string znode(const std::string& path) { return path + "-effects"; }
};

}  // namespace latchkey::history
