#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"

#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// How waiting for a deletion ended.
struct deletion {
    /// `no_node`: the znode does not exist. `ok`: it exists. Another one: why it was not seen.
    result_code seen = result_code::ok;
    bool by_event = false;  ///< it was deleted while this waited
};

/// Waits until a znode is deleted or does not exist: one read that sets a watch, repeated whenever
/// the data changes, and with each later connection. Without `wait`: looks once. On the loop only.
[[nodiscard]] task<deletion> until_deleted(std::shared_ptr<client_core> core,
                                           std::string path,
                                           bool wait = true);

}  // namespace latchkey::inline v0
