#pragma once

#include "session/request.hpp"

#include <cstddef>

namespace latchkey {

/// The most that a request may weigh. Servers drop the connection on more than jute.maxbuffer
/// (1 MiB unless configured), and every repetition after it: an endless loop, not an error.
constexpr std::size_t largest_request = 1'000'000;

/// Whether a request is one that the servers and the C client take: paths as ZooKeeper wants them
/// (a sequential create may end in '/'), no NUL in them, not too large, a multi of one or more
/// create, remove, set and check without containers, check nowhere else. Both aborts and endless
/// reconnects of the C client start with a request that is not.
[[nodiscard]] bool acceptable(const request& r) noexcept;

/// How many bytes a request takes at most, without its connection's framing.
[[nodiscard]] std::size_t weight(const request& r) noexcept;

}  // namespace latchkey
