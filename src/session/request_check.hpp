#pragma once

#include <latchkey/export.hpp>

#include "session/request.hpp"

#include <cstddef>

namespace latchkey::inline v0 {

/// The largest request, in bytes. A server drops the connection when a request exceeds
/// jute.maxbuffer (1 MiB unless configured), and again for each repetition: an endless loop, not an
/// error.
constexpr std::size_t largest_request = 1'000'000;

/// Whether the servers and the C client accept a request: paths by ZooKeeper's rules without NUL (a
/// sequential create may end in '/'); not too large; a multi contains at least one create, remove,
/// set or check, and no container; check only inside a multi. A request that breaks these rules can
/// abort the C client or make it reconnect endlessly.
[[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING bool acceptable(const request& r) noexcept;

/// The size of a request in bytes, at most, without the framing of its connection.
[[nodiscard]] std::size_t weight(const request& r) noexcept;

}  // namespace latchkey::inline v0
