#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"

#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// For a task: sends a request until there is an answer that is `enough`. Repeats it after a pause,
/// and with the next connection if one was lost. In one session. On the loop only; `core` outlives
/// the task.
[[nodiscard]] task<reply> until_answered(client_core& core,
                                         request r,
                                         bool (reply::*enough)()
                                             const noexcept = &reply::is_decided);

/// For a task: reads these znodes in one batch, once. On the loop only; `core` outlives the task.
[[nodiscard]] task<std::vector<reply>> read_all(client_core& core, std::vector<std::string> paths);

}  // namespace latchkey::inline v0
