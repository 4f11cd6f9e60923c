#pragma once

#include "session/request.hpp"
#include "session/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace latchkey::model {

/// An identity of a connection, as the servers know it.
struct identity {
    std::string scheme;
    std::string id;
};

/// The identity that credentials prove; nothing if the servers refuse them. The servers know the
/// scheme `digest`, whose id is `user:base64(sha1(user:password))`.
[[nodiscard]] std::optional<identity> authenticate(const session_options::identity& credentials);

/// Whether a connection with `identities` may do `wanted` with a znode that has this list. An empty
/// list allows everything.
[[nodiscard]] bool permits(const acl& list,
                           permission wanted,
                           const std::vector<identity>& identities);

/// The list as it is stored, with `auth` replaced by the creator's identities; nothing if the list
/// is not valid.
[[nodiscard]] std::optional<acl> resolve(const acl& list, const std::vector<identity>& identities);

}  // namespace latchkey::model
