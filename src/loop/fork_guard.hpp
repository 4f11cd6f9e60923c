#pragma once

#include <cstdint>

namespace latchkey {

/// How often this process is a fork of the one that first asked. An object that remembers the
/// number from its construction can tell that it belongs to a parent process, whose threads do not
/// exist here and whose sockets are the parent's to use. Costs one load; any thread.
[[nodiscard]] std::uint64_t fork_generation() noexcept;

}  // namespace latchkey
