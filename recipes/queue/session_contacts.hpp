#pragma once

#include <latchkey/acl.hpp>

#include "client/client_core.hpp"
#include "direct/direct_handoffs.hpp"
#include "loop/task.hpp"
#include "session/request.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace latchkey::inline v0 {

/// How to reach the candidates of an election: their own data is their id, as in Curator. So each
/// session has one ephemeral znode for all of them, `<directory>/direct-<session>`, and the owner
/// of a candidate's znode says which one. Shared by the participants of a recipe object. On the
/// loop only.
class session_contacts final : public std::enable_shared_from_this<session_contacts> {
public:
    session_contacts(std::string directory, std::shared_ptr<const acl> access)
        : directory_(std::move(directory)), access_(std::move(access)) {}

    /// Creates the znode of the present session, once. Without it the candidates wait for events.
    void publish(const std::shared_ptr<client_core>& core);

    /// How to reach the candidate of which this was read. One read for each session, that is sent
    /// once its first candidate is seen. `core` outlives the task.
    [[nodiscard]] task<std::optional<direct_contact>> find(client_core& core,
                                                           std::string name,
                                                           std::int64_t session);

private:
    void create(const std::shared_ptr<client_core>& core, std::int64_t session, bool again);

    [[nodiscard]] std::string path_of(std::int64_t session) const;

    const std::string directory_;
    const std::shared_ptr<const acl> access_;
    std::int64_t published_ = 0;  ///< the session
    std::unordered_map<std::int64_t, direct_contact> known_;
};

}  // namespace latchkey::inline v0
