#pragma once

#include <latchkey/leader_observer.hpp>

#include "queue/znode_names.hpp"
#include "session/request.hpp"

#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The participants with the lowest number. Usually one. During a transfer there are two, and the
/// older znode leads.
[[nodiscard]] std::vector<std::string> heads_of(const std::vector<std::string>& names);

/// What the leader's znode at `path` and the data of its directory say together. A record of
/// another term is not about this leader.
[[nodiscard]] leader_info leader_from(const std::string& path,
                                      const reply& znode,
                                      const reply& directory);

}  // namespace latchkey::inline v0
