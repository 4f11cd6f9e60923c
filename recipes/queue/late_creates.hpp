#pragma once

#include "client/client_core.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Deletes what comes of a create, or of several in one transaction, that was resolved as not there
/// at `since`, and may come yet. `prefix` is what their names begin with, and no others'.
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
                         loop::clock::time_point since);

}  // namespace latchkey::inline v0
