#pragma once

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "queue/queue_recipe.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// A create, or several in one transaction, that was resolved as not there, and may come yet.
///
/// Servers refuse a late request of a session that has moved to another server meanwhile. They do
/// not if it has moved back: a create that waited in a busy server's queue all the time is applied
/// then, long after its attempt went on without it, and no client would ever delete it. So the
/// directories are looked at again on each later connection, behind its first write, which such a
/// create is ahead of. On the loop only; lives with the session, or until creates that old are
/// impossible.
class stray_creates final : public session_listener,
                            public std::enable_shared_from_this<stray_creates> {
public:
    /// `prefix` is what the names of its attempt begin with. Kept alive by the core.
    static std::shared_ptr<stray_creates> await(std::shared_ptr<client_core> core,
                                                std::shared_ptr<const queue_recipe> as,
                                                std::string prefix);

    /// The attempt is resolved, and the znodes at `paths` (none, perhaps) are its own; all others
    /// are strays from now on.
    void keep(std::vector<std::string> paths) { kept_ = std::move(paths); }

private:
    stray_creates(std::shared_ptr<client_core> core,
                  std::shared_ptr<const queue_recipe> as,
                  std::string prefix);

    void session_connected() override;

    void session_ended(loss_reason) override { core_->detach(this); }

    void client_closed(const failure&) override { core_->detach(this); }

    void on_listed(const std::string& directory, const listing& l);
    [[nodiscard]] bool is_kept(const std::string& path) const;

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> as_;
    const std::string prefix_;
    const loop::clock::time_point since_;
    std::optional<std::vector<std::string>> kept_;
};

/// Deletes what the list shows with this prefix, but `own`, a path in that directory: a second
/// znode of one attempt is a create that was thought lost.
void delete_strays(client_core& core,
                   const queue_recipe& as,
                   std::string_view prefix,
                   const std::string& own,
                   const listing& l);

}  // namespace latchkey::inline v0
