#pragma once

#include <latchkey/inspect.hpp>

#include "inspect/kind_rules.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <string>
#include <vector>

// What a view shows of a path whose kind is known, as functions of values.

namespace latchkey::inline v0 {

/// What the lists of a path show.
struct path_lists {
    queue_seen queue;
    const reply& znode;              ///< of the path, with the names of its children
    std::vector<reply> others = {};  ///< the answers to lists_besides()

    // Found by find_participants():
    std::vector<std::string> names = {};    ///< in a queue by number, otherwise by name
    std::vector<std::string> permits = {};  ///< those of a semaphore that count
};

/// What else than the path itself shows who takes part: the directories of a semaphore, the round
/// of a double_barrier.
[[nodiscard]] std::vector<request> lists_besides(const queue_view& v, const path_lists& lists);

/// Finds who takes part, and adds to the view what the lists show besides.
void find_participants(queue_view& v, path_lists& lists);

/// The names of those that may hold, as far as names say it. All, if there is no queue.
[[nodiscard]] std::vector<std::string> may_hold(const path_lists& lists);

/// Decides which participants in the view hold, and puts them in their order.
void decide_holders(queue_view& v, const path_lists& lists);

/// Adds to each participant what follows from its other fields. `newest`: the newest time that is
/// known, in milliseconds.
void complete_participants(queue_view& v, std::int64_t newest);

}  // namespace latchkey::inline v0
