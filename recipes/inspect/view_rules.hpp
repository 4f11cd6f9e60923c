#pragma once

#include <latchkey/inspect.hpp>

#include "inspect/kind_rules.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <string>
#include <vector>

// What a view shows of a path whose kind is known, as functions of values.

namespace latchkey::inline v0 {

/// What was read of a path besides its participants.
struct path_lists {
    queue_seen queue;
    const reply& znode;              ///< of the path, with the names of its children
    std::vector<reply> others = {};  ///< the answers to lists_besides()
};

/// What else than the path itself shows who takes part: the directories of a semaphore, the round
/// of a double_barrier.
[[nodiscard]] std::vector<request> lists_besides(const queue_view& v, const path_lists& lists);

/// The names of those that take part.
struct names_listed {
    std::vector<std::string> names;         ///< of those in the queue by number, of others by name
    std::vector<std::string> permits = {};  ///< those of a semaphore that count
};

/// Returns who takes part, and adds to the view what the lists show besides.
[[nodiscard]] names_listed add_lists(queue_view& v, const path_lists& lists);

/// Those participants of a queue that may hold, as far as names say it. `ordered` is by number. All
/// of them, if it is no queue.
[[nodiscard]] std::vector<std::string> may_hold(const queue_seen& queue,
                                                const std::vector<std::string>& ordered);

/// Decides which participants in the view hold, and puts them in their order. `queue`: the names of
/// those in the queue, by number.
void decide_holders(queue_view& v, const path_lists& lists, const std::vector<std::string>& queue);

/// Adds to each participant what follows from its other fields. `newest`: the newest time that is
/// known, in milliseconds.
void complete_participants(queue_view& v, std::int64_t newest);

}  // namespace latchkey::inline v0
