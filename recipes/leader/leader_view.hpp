#pragma once

#include <latchkey/leader_observer.hpp>

#include "queue/znode_names.hpp"
#include "session/request.hpp"

#include <string>
#include <vector>

namespace latchkey {

/// Those with the lowest number: one; or two, while the leadership is being transferred, of which
/// the older znode leads.
[[nodiscard]] std::vector<std::string> heads_of(const std::vector<std::string>& names);

/// What the head's znode at `path` and the data of its directory tell together. A record of
/// somebody else's term is not this leader's.
[[nodiscard]] leader_info leader_from(const std::string& path,
                                      const reply& znode,
                                      const reply& directory);

}  // namespace latchkey
