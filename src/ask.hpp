#pragma once

#include "client_core.hpp"
#include "request.hpp"

#include <chrono>

namespace latchkey {

/// Sends a read and waits for its answer, again on another connection if need be, for at most the
/// session timeout. Blocks; an interruption point of Boost.Thread. Throws errc::unreachable,
/// closed, forked, would_deadlock; refusals are in the reply.
[[nodiscard]] reply ask(client_core& core, const request& question);

/// The same for several at once, in one round trip.
[[nodiscard]] std::vector<reply> ask(client_core& core, const std::vector<request>& questions);

}  // namespace latchkey
