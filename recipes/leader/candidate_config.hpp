#pragma once

#include <latchkey/leader_options.hpp>

#include "client/client_core.hpp"
#include "leader/leader_terms.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// How a candidate takes part. The data of its znode is its id, as in Curator.
struct candidate_config {
    queue_recipe queue;
    std::shared_ptr<const leader_terms> who;
};

/// Checks what the user gave for a candidate. Throws errc::invalid_argument.
[[nodiscard]] candidate_config check_candidate(const client_core& core,
                                               std::string path,
                                               const queue_markers& markers,
                                               leader_options options);

}  // namespace latchkey::inline v0
