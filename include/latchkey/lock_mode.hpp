#pragma once

#include <latchkey/export.hpp>

#include <cstdint>

namespace latchkey::inline v0 {

/// What a hold allows.
enum class lock_mode : std::uint8_t {
    shared,     ///< together with other shared holds
    upgrade,    ///< together with earlier shared holds; may become exclusive, so only one at a time
    exclusive,  ///< alone
};

/// "shared", "upgrade", "exclusive".
[[nodiscard]] LATCHKEY_EXPORT const char* to_string(lock_mode m) noexcept;

}  // namespace latchkey::inline v0
