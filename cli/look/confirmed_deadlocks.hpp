#pragma once

#include <latchkey/client.hpp>
#include <latchkey/inspect.hpp>
#include <latchkey/wait_graph.hpp>

#include <vector>

namespace latchkey::cli {

/// The deadlocks among the views of a walk that a second look shows as well. The walk has read path
/// after path, so what it shows together may never have been so. Reads the suspected paths again,
/// one after the other; throws latchkey::error.
[[nodiscard]] std::vector<deadlock> confirmed_deadlocks(const client& zk,
                                                        const std::vector<queue_view>& contended);

}  // namespace latchkey::cli
