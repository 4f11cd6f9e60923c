#pragma once

#include <cstdint>

namespace latchkey {

/// What a hold entitles to.
enum class lock_mode : std::uint8_t {
    shared,     ///< beside others that share
    upgrade,    ///< beside others that shared before; alone among those that may become exclusive
    exclusive,  ///< alone
};

/// "shared", "upgrade", "exclusive".
[[nodiscard]] const char* to_string(lock_mode m) noexcept;

}  // namespace latchkey
