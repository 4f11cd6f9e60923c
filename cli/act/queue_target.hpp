#pragma once

#include <latchkey/inspect.hpp>
#include <latchkey/participant.hpp>

#include <optional>
#include <string>

namespace latchkey::cli {

/// The participant that a user means by `node`: the name of its znode, as it is or as latchkey
/// prints it, or its path. Nothing if it is not there. Throws command_failure for a child that is
/// no participant.
[[nodiscard]] std::optional<participant> participant_named(const queue_view& v,
                                                           const std::string& node);

/// "build@ci-4 (pid 812, 12 min)": owner_text() of a participant.
[[nodiscard]] std::string owner_of(const participant& p);

}  // namespace latchkey::cli
