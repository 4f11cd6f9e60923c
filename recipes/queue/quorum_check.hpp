#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"

#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// Waits until the session may be believed. A watch event that was buffered while this process was
/// stopped proves nothing, and neither does a list from a follower that was left behind: only a
/// quorum write does.
///
/// `ok` when it may be believed: at once, unless the znodes have to be looked for, or after one
/// write or more, each of which also checks that the znodes are there. `no_node` if one of the
/// znodes is gone, or what refuses it for good. Whatever else servers answer, it asks
/// again; also on the next connection. `core` outlives the task. On the loop only.
[[nodiscard]] task<result_code> quorum_check(client_core& core,
                                             std::vector<std::string> znodes,
                                             bool look_for_them = false);

}  // namespace latchkey::inline v0
