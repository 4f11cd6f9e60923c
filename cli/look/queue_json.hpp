#pragma once

#include <latchkey/inspect.hpp>
#include <latchkey/lock_tree.hpp>
#include <latchkey/participant.hpp>
#include <latchkey/wait_graph.hpp>

#include "output/json_text.hpp"

namespace latchkey::cli {

[[nodiscard]] json_object json_of(const participant& p, lock_kind k);

/// A path, its kind, its holders and its queue.
[[nodiscard]] json_object json_of(const queue_view& v);

/// A path, and its type: "unreadable", or "lock" with what json_of() says of a view and all that
/// wait counted.
[[nodiscard]] json_object json_of(const lock_tree_entry& e);

[[nodiscard]] json_object json_of(const lock_wait& w);

}  // namespace latchkey::cli
