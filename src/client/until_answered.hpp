#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"

namespace latchkey::inline v0 {

/// Whether a request has been applied, or a quorum or an access control list has refused it.
[[nodiscard]] inline bool is_decided(const reply& r) noexcept {
    return proves_quorum(r.code) || refused_for_good(r.code);
}

/// For a read: whether it says that the znode is there, or that it is not.
[[nodiscard]] inline bool is_seen(const reply& r) noexcept {
    return r.tells_whether_there();
}

/// For a task: sends a request until there is an answer that is `enough`. Repeats it after a pause,
/// and with the next connection if one was lost. In one session. On the loop only; `core` outlives
/// the task.
[[nodiscard]] task<reply> until_answered(client_core& core,
                                         request r,
                                         bool (*enough)(const reply&) noexcept = is_decided);

}  // namespace latchkey::inline v0
