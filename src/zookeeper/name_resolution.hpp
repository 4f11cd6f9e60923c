#pragma once

#include "session/session.hpp"
#include "zookeeper/server_list.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The result of resolving a session's endpoints.
struct name_resolution {
    std::vector<server_address> addresses;  ///< of all names that could be resolved
    std::vector<std::string> failures;      ///< for people: each unresolved name, and why
};

/// Resolves and calls `done` once, on any thread, even if the caller does not need the result any
/// more.
using name_resolver = std::function<void(std::vector<session_options::endpoint> endpoints,
                                         std::function<void(name_resolution)> done)>;

/// The endpoints themselves if all are numeric addresses, which need no resolver.
[[nodiscard]] std::optional<std::vector<server_address>> numeric_addresses(
    const std::vector<session_options::endpoint>& endpoints);

/// Asks the system's resolver on a thread of its own, which calls `done` and ends. Nothing waits
/// for that thread, not even the end of the process: a resolver may take any time.
void resolve_names(std::vector<session_options::endpoint> endpoints,
                   const std::function<void(name_resolution)>& done);

}  // namespace latchkey::inline v0
