#pragma once

#include "client_core.hpp"
#include "session_user.hpp"

#include <memory>
#include <string>

namespace latchkey {

/// An ephemeral znode that is not wanted any more, and may come yet: the answer to its create was
/// lost (see lost_create, of those whose name is not known). On each later connection it is looked
/// for, after a write, which such a create is ahead of, and deleted if it is of this session. On
/// the loop only; lives with the session, or until creates that old are impossible.
class late_znode final : public session_user, public std::enable_shared_from_this<late_znode> {
public:
    /// Kept alive by the core.
    static void await(std::shared_ptr<client_core> core, std::string path);

private:
    late_znode(std::shared_ptr<client_core> core, std::string path);

    void session_connected() override;

    void session_ended(loss) override { core_->detach(this); }

    void validity_passed() override {}

    void znode_missing(const std::string&) override {}

    void client_closed(const failure&) override { core_->detach(this); }

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    const loop::clock::time_point since_;
};

}  // namespace latchkey
