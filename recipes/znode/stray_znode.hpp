#pragma once

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "loop/paced_retry.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Whether a create sent at `sent` can be ruled out by now: no server would still apply it.
[[nodiscard]] bool too_old_to_come(client_core& core, loop::clock::time_point sent);

/// An ephemeral znode of a known name that is not wanted any more. It may exist, or may still be
/// created, because the answer to its create was lost. (stray_creates looks for znodes whose name
/// is not known.) By the time a delete is repeated, the name may belong to another client, so the
/// znode is deleted only after it was found to be of this session. On the loop only. Lives until
/// the session ends, until the znode is gone and the create can be ruled out, or until the client
/// wants a znode there again.
class stray_znode final : public session_listener,
                          public std::enable_shared_from_this<stray_znode> {
public:
    /// The znode does not exist now. It is looked for on each later connection, behind a write,
    /// because such a create is ahead of that write. Kept alive by the core.
    static void await(std::shared_ptr<client_core> core, std::string path);

    /// The znode exists: the first delete is sent at once. `may_come`: another one may be created
    /// later.
    static void remove(std::shared_ptr<client_core> core, std::string path, bool may_come);

private:
    stray_znode(std::shared_ptr<client_core> core, std::string path, bool may_come);

    static std::shared_ptr<stray_znode> make(std::shared_ptr<client_core> core,
                                             std::string path,
                                             bool may_come);

    void session_connected() override;

    void session_ended(loss_reason) override { end(); }

    void client_closed(const failure&) override { end(); }

    void znode_wanted(const std::string& path, leftover& before) override;

    void send();
    void gone();
    void again();
    void end();

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    const bool may_come_;
    const loop::clock::time_point since_;
    bool ended_ = false;
    paced_retry retry_;
};

}  // namespace latchkey::inline v0
