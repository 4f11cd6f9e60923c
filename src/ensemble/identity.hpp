#pragma once

#include "session/request.hpp"
#include "session/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace latchkey::model {

/// Who a connection is, to the servers.
struct identity {
    std::string scheme;
    std::string id;
};

/// What the servers make of credentials; none if they refuse them. They know the scheme `digest`.
[[nodiscard]] std::optional<identity> authenticate(const session_options::identity& credentials);

/// May one who has `identities` do `wanted` with a znode that has this list? An empty list refuses
/// nobody.
[[nodiscard]] bool permits(const acl& list,
                           permission wanted,
                           const std::vector<identity>& identities);

/// The list as it is stored, with `auth` replaced by the creator's identities; none if it is not a
/// valid list.
[[nodiscard]] std::optional<acl> resolve(const acl& list, const std::vector<identity>& identities);

/// `user:base64(sha1(user:password))`
[[nodiscard]] std::string digest_id(const std::string& user_and_password);

}  // namespace latchkey::model
