#pragma once

#include <latchkey/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey::inline v0 {

/// How long one attempt to connect may take, in the given round (from 0) through a list of
/// `servers`. At first 400 ms, so that a few servers that swallow packets cost little. The limit
/// doubles up to T/2N, so that a slow network gets time while a round still fits into half of the
/// session timeout T. Never below 200 ms, whatever T is.
[[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING std::chrono::milliseconds connect_limit(
    std::chrono::milliseconds session_timeout, std::size_t servers, unsigned round) noexcept;

/// How long to pause after this many failed rounds in a row (at least one). Drawn by `random` from
/// the upper half of its range, so that the clients of a restarted ensemble do not come all at
/// once. With a session that may still live, the pause stays below T/20.
[[nodiscard]] std::chrono::milliseconds connect_pause(unsigned failed_rounds,
                                                      std::uint64_t random) noexcept;
[[nodiscard]] LATCHKEY_EXPORT_FOR_TESTING std::chrono::milliseconds reconnect_pause(
    std::chrono::milliseconds session_timeout,
    unsigned failed_rounds,
    std::uint64_t random) noexcept;

}  // namespace latchkey::inline v0
