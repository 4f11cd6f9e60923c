#pragma once

#include <latchkey/leader_observer.hpp>

#include <optional>
#include <string>

namespace latchkey::cli {

/// One line: "leader ID TOKEN NODE DATA", or "no leader". What other programs have written is
/// escaped.
[[nodiscard]] std::string leader_line(const std::optional<leader_info>& leader);

/// What leader_line() says as one JSON object on a line, with the path of the election.
[[nodiscard]] std::string leader_json_line(const std::string& path,
                                           const std::optional<leader_info>& leader);

}  // namespace latchkey::cli
