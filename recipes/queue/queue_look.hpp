#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"
#include "session/failure.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// What a participant that will not wait sees before it joins.
struct queues_seen {
    bool free = false;               ///< no participant is ahead, in any of the directories
    failure why = {};                ///< it can never be granted
    bool directories_exist = false;  ///< all of them

    struct delay {
        std::string record;
        std::chrono::milliseconds of{0};
    };

    std::vector<delay> delays = {};  ///< of dead holders; `free` says nothing of them
};

/// Lists the directories, so that a participant which would have to wait writes nothing. One round
/// trip, and another one if a holder has died and had a lock_delay; repeated, with pauses, until
/// servers have answered. On the loop only.
[[nodiscard]] task<queues_seen> look_at_queues(std::shared_ptr<client_core> core,
                                               std::shared_ptr<const queue_recipe> recipe);

}  // namespace latchkey::inline v0
