#pragma once

#include <latchkey/acl.hpp>

#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// The znodes of a recipe's participants: their data and their access control list.
struct lock_options {
    /// The data of the znode, at most 512 bytes. Replaces Latchkey's own record, which names the
    /// host, the process, the user and the program (see `identity`).
    std::optional<std::string> data = {};

    /// The access control list. Replaces client_options::access.
    std::optional<acl> access = {};
};

}  // namespace latchkey::inline v0
