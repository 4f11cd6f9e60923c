#pragma once

#include <latchkey/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// What an identity may do with a znode. The values are ZooKeeper's; combine them with `|`.
enum class permission : std::int32_t {
    read = 1,
    write = 2,
    create = 4,
    remove = 8,
    admin = 16,
    all = 31,
};

[[nodiscard]] constexpr permission operator|(permission a, permission b) noexcept {
    return static_cast<permission>(static_cast<std::int32_t>(a) | static_cast<std::int32_t>(b));
}

/// Whether `granted` includes all of `wanted`.
[[nodiscard]] constexpr bool allows(permission granted, permission wanted) noexcept {
    return (granted | wanted) == granted;
}

/// One entry of an access control list, for example `{"digest", "user:HASH", permission::all}`. The
/// hash, not the password: what `printf %s user:password | openssl dgst -sha1 -binary | base64`
/// prints, 28 characters.
struct acl_entry {
    std::string scheme;
    std::string id;
    permission allowed = permission::all;

    bool operator==(const acl_entry&) const = default;
};

/// The access control list of a znode. It does not apply to the znode's children.
using acl = std::vector<acl_entry>;

/// Everyone may do everything. Then anyone who reaches a client port can release any lock.
[[nodiscard]] inline acl open_unsafe_acl() {
    return {{"world", "anyone", permission::all}};
}

/// Only the identity that created a znode has access to it. All participants must then use the same
/// identity: a waiter reads its predecessor's znode, and a release deletes from the shared
/// directory.
[[nodiscard]] inline acl creator_only_acl() {
    return {{"auth", "", permission::all}};
}

}  // namespace latchkey::inline v0
