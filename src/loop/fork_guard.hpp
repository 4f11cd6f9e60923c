#pragma once

#include <cstdint>

namespace latchkey::inline v0 {

/// How often this process was forked since the first call. An object that remembers the number from
/// its construction can tell whether it belongs to a parent process, whose threads do not exist
/// here and whose sockets this process must not use. Costs one load. Any thread.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

}  // namespace latchkey::inline v0
