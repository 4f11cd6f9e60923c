#pragma once

#include <latchkey/acl.hpp>

#include <optional>
#include <string>

namespace latchkey {

/// How a lock's participants look on the servers.
struct mutex_options {
    /// The znode's data instead of Latchkey's own record of who holds the lock; at most 512 bytes.
    std::optional<std::string> data = {};

    /// Instead of the client's.
    std::optional<acl> access = {};
};

}  // namespace latchkey
