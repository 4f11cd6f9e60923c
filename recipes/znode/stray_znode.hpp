#pragma once

#include "client/client_core.hpp"
#include "client/session_listener.hpp"

#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Whether a create sent at `sent` can be ruled out by now: no server would still apply it.
[[nodiscard]] bool too_old_to_come(client_core& core, loop::clock::time_point sent);

/// Deletes an ephemeral znode of a known name that is not wanted any more, if it exists, and if it
/// is created later. (delete_late_creates() does this for znodes whose name is not known.) By the
/// time a delete is repeated, the name may belong to another client, so the znode is deleted only
/// after it was found to be of this session. `is_ours`: it was found just now.
///
/// A create that may come is ahead of the first write of each later connection, and is looked for
/// behind that. On the loop only. Goes on until the session ends, until the znode is gone and the
/// create can be ruled out, or until the client wants a znode there again.
void delete_stray(const std::shared_ptr<client_core>& core,
                  std::string path,
                  std::shared_ptr<znode_creates> creates,
                  bool is_ours = false);

}  // namespace latchkey::inline v0
