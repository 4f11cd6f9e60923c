#pragma once

#include <latchkey/group.hpp>

#include "options/run_options.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// The options of `latchkey members`.
struct members_options : program_options {
    bool follow = false;
};

/// Reads the words after "latchkey members". Throws usage_error and help_request.
[[nodiscard]] members_options parse_members(const std::vector<std::string>& arguments);

/// One line: the name, behind `event` if that is not empty; or a JSON object.
[[nodiscard]] std::string line_of_member(const group_member& m,
                                         const std::string& event,
                                         bool json);

}  // namespace latchkey::cli
