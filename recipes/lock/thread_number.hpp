#pragma once

#include <atomic>
#include <cstdint>

namespace latchkey::inline v0 {

/// The number of this thread. Unlike a std::thread::id, it is never that of a later thread.
[[nodiscard]] inline std::uint64_t thread_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local const std::uint64_t own = ++last;
    return own;
}

}  // namespace latchkey::inline v0
