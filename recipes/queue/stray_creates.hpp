#pragma once

#include "client/client_core.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// Deletes what comes of a create, or of several in one transaction, that was resolved as not there
/// at `since`, and may come yet; but not `kept`, the paths of what its attempt has after all.
/// `prefix` is what the names of the attempt begin with.
///
/// Servers refuse a late request of a session that has moved to another server meanwhile. They do
/// not if it has moved back: a create that waited in a busy server's queue all the time is applied
/// then, long after its attempt went on without it, and no client would ever delete it. So the
/// directories are looked at again on each later connection, behind its first write, which such a
/// create is ahead of. On the loop only; goes on until the session ends, or until creates that old
/// are impossible.
void delete_late_creates(const std::shared_ptr<client_core>& core,
                         std::shared_ptr<const queue_recipe> recipe,
                         std::string prefix,
                         std::vector<std::string> kept,
                         loop::clock::time_point since);

/// Deletes what the list shows with this prefix, but `own`, a path in that directory: a second
/// znode of one attempt is a create that was thought lost.
void delete_strays(client_core& core,
                   const queue_recipe& recipe,
                   std::string_view prefix,
                   const std::string& own,
                   const listing& l);

}  // namespace latchkey::inline v0
