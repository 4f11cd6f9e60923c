#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace latchkey {

/// How long one attempt to connect may take in the given round (from 0) through a list of
/// `servers`: 400 ms at first, so that a few servers that swallow packets cost little; then
/// doubling up to T/2N, so that a slow network is given time while half of the session timeout T is
/// still enough for a round. Never below 200 ms, whatever T is.
[[nodiscard]] std::chrono::milliseconds connect_limit(std::chrono::milliseconds session_timeout,
                                                      std::size_t servers,
                                                      unsigned round) noexcept;

/// How long to pause after that many failed rounds in a row (at least one), jittered by `random`
/// over the upper half, so that the clients of a restarted ensemble do not come all at once. With a
/// session that may still live the pause stays below T/20.
[[nodiscard]] std::chrono::milliseconds connect_pause(unsigned failed_rounds,
                                                      std::uint64_t random) noexcept;
[[nodiscard]] std::chrono::milliseconds reconnect_pause(std::chrono::milliseconds session_timeout,
                                                        unsigned failed_rounds,
                                                        std::uint64_t random) noexcept;

}  // namespace latchkey
