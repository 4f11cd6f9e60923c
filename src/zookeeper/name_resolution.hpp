#pragma once

#include "session/session.hpp"
#include "zookeeper/server_list.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// The result of resolving a name.
struct name_resolution {
    std::vector<server_address> addresses;
    std::string failure;  ///< for people: the name, and why there is no address
};

/// Resolves and calls `done` once, on any thread, even if the caller does not need the result any
/// more. Look-ups do not wait for each other.
using name_resolver =
    std::function<void(session_options::endpoint name, std::function<void(name_resolution)> done)>;

/// The endpoint itself if it is a numeric address, which needs no resolver.
[[nodiscard]] std::optional<server_address> numeric_address(const session_options::endpoint& e);

/// Asks the system's resolver on a thread of its own, which calls `done` and ends. Nothing waits
/// for that thread, not even the end of the process: a resolver may take any time.
void resolve_name(session_options::endpoint name, const std::function<void(name_resolution)>& done);

}  // namespace latchkey::inline v0
