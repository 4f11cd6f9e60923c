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

    bool operator==(const identity&) const = default;
};

/// The identity that credentials prove; nothing if the servers refuse them. The servers know the
/// scheme `digest`, whose id is `user:base64(sha1(user:password))`.
[[nodiscard]] std::optional<identity> authenticate(const session_options::identity& credentials);

/// Whether a connection with `identities` may do `wanted` with a znode that has this list. An empty
/// list allows everything.
[[nodiscard]] bool permits(const acl& list,
                           permission wanted,
                           const std::vector<identity>& identities);

/// The list as it is stored: equal entries once, and `auth` replaced by the creator's identities.
/// Nothing if the list is not valid.
[[nodiscard]] std::optional<acl> resolve(const acl& list, const std::vector<identity>& identities);

/// The name that a client may see of its own identity: of a digest, the user.
[[nodiscard]] std::string user_of(const identity& i);

}  // namespace latchkey::model
