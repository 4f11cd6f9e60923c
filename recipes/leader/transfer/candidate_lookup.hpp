#pragma once

#include "client/client_core.hpp"
#include "leader/transfer/mailbox.hpp"
#include "loop/task.hpp"

#include <optional>
#include <string>

namespace latchkey::inline v0 {

struct wanted_candidate {
    std::optional<mailbox_name> mailbox = {};  ///< nothing: any
    std::optional<std::string> id = {};        ///< nothing: any
};

struct candidate_lookup {
    bool answered = false;  ///< otherwise the servers refused to tell
    std::optional<reachable_candidate> found = {};
};

/// Looks for a candidate that takes part in transfers, by its mailbox or its id. `but` is the name,
/// in the queue at `path`, of the candidate that looks. On the loop only, for one session. `core`
/// outlives the task.
[[nodiscard]] task<candidate_lookup> look_up_candidate(client_core& core,
                                                       std::string path,
                                                       std::string but,
                                                       wanted_candidate wanted);

}  // namespace latchkey::inline v0
