#pragma once

#include <latchkey/acl.hpp>

#include <functional>
#include <string>

namespace latchkey {

/// How a recipe object takes part in a queue: the same for all that it ever puts there, and shared
/// by them, because a process may have thousands waiting.
struct participation {
    std::string directory;
    std::string marker;                 ///< what stands between the GUID and the sequence: "lock-"
    std::function<std::string()> data;  ///< for each znode anew
    acl access;
};

}  // namespace latchkey
