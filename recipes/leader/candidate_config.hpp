#pragma once

#include <latchkey/leader_options.hpp>

#include "client/client_core.hpp"
#include "queue/queue_recipe.hpp"

#include <string>

namespace latchkey {

/// Checks what the user gave for a candidate, and says how it takes part: with its id as the data
/// of its znode, as Curator's do. Throws errc::invalid_argument.
[[nodiscard]] queue_recipe candidate_recipe_of(const client_core& core,
                                               std::string path,
                                               const queue_markers& markers,
                                               leader_options options);

}  // namespace latchkey
