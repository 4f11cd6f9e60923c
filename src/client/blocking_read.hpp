#pragma once

#include "client/client_core.hpp"
#include "session/failure.hpp"
#include "session/request.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Limits what the servers and this process keep in memory for one call.
inline constexpr std::size_t most_reads_in_flight = 64;

/// Sends a request and waits for its answer, for at most the session timeout. Sends it again if its
/// outcome is unknown. Blocks; an interruption point of Boost.Thread. Throws errc::unreachable,
/// closed, forked, would_deadlock. Refusals are in the reply.
[[nodiscard]] reply blocking_read(client_core& core, const request& question);

/// Sends several requests, 64 at a time: up to 64 take one round trip. They are sent and
/// answered in order, on one connection. What stands behind a request::barrier() is asked again
/// unless that was answered in the order of writes. Keeps the first `most_data` bytes of the data
/// of each answer.
[[nodiscard]] std::vector<reply> blocking_read(
    client_core& core,
    const std::vector<request>& questions,
    std::size_t most_data = std::numeric_limits<std::size_t>::max());

/// The names of a znode's children, in no order; none if it does not exist. Throws a refusal, too.
[[nodiscard]] std::vector<std::string> read_children(client_core& core, const std::string& path);

/// What the znodes at `paths` answer to a get, each with its path; those that have gone are left
/// out. Throws a refusal, too.
[[nodiscard]] std::vector<std::pair<std::string, reply>> read_znodes(
    client_core& core,
    const std::vector<std::string>& paths,
    std::size_t most_data = std::numeric_limits<std::size_t>::max());

/// As blocking_read() of several requests, without blocking; `done` is called on the loop. Throws
/// errc::forked.
void start_read(const std::shared_ptr<client_core>& core,
                const std::vector<request>& questions,
                std::function<void(failure, std::vector<reply>)> done,
                std::size_t most_data = std::numeric_limits<std::size_t>::max());

}  // namespace latchkey::inline v0
