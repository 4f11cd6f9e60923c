#pragma once

#include <latchkey/participant.hpp>

#include "client/client_core.hpp"
#include "queue/znode_names.hpp"

#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

// The participants of a queue, without joining it. These functions block, and throw what
// blocking_read() throws, and refusals.

/// Reads the znodes at `paths`. Those that have gone are left out.
[[nodiscard]] std::vector<participant> read_participants(client_core& core,
                                                         const queue_markers& markers,
                                                         const std::vector<std::string>& paths);

/// All participants, in the order of the queue.
[[nodiscard]] std::vector<participant> list_participants(client_core& core,
                                                         const std::string& directory,
                                                         const queue_markers& markers);

[[nodiscard]] std::optional<participant> first_participant(client_core& core,
                                                           const std::string& directory,
                                                           const queue_markers& markers);

/// Asks a participant to give up its place; false if it has left. Throws errc::invalid_argument
/// unless `whom` is a participant of the queue.
[[nodiscard]] bool revoke_in(client_core& core,
                             const std::string& directory,
                             const queue_markers& markers,
                             const participant& whom);

/// As above, of any znode in `directory`.
[[nodiscard]] bool revoke_in(client_core& core,
                             const std::string& directory,
                             const participant& whom);

}  // namespace latchkey::inline v0
