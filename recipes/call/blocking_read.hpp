#pragma once

#include "client/client_core.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace latchkey {

/// Sends a request and waits for its answer, again if its outcome is unknown, for at most the
/// session timeout. Blocks; an interruption point of Boost.Thread. Throws errc::unreachable,
/// closed, forked, would_deadlock; refusals are in the reply.
[[nodiscard]] reply blocking_read(client_core& core, const request& question);

/// The same for several, 64 at a time: up to as many take one round trip. Of the data of each
/// answer the first `most_data` bytes are kept.
[[nodiscard]] std::vector<reply> blocking_read(
    client_core& core,
    const std::vector<request>& questions,
    std::size_t most_data = std::numeric_limits<std::size_t>::max());

}  // namespace latchkey
