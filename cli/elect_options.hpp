#pragma once

#include "run_options.hpp"

#include <string>
#include <variant>
#include <vector>

namespace latchkey::cli {

/// What `latchkey elect` is asked to do, checked as far as it can be without a server.
struct elect_options : run_options {
    std::string id;    ///< empty: host and process
    std::string data;  ///< published with the leadership
    int priority = 0;
    bool once = false;    ///< ends with the first term
    bool follow = false;  ///< -l: tells who leads, and takes no part
};

/// Reads what follows "latchkey elect" on the command line. Throws usage_error.
[[nodiscard]] std::variant<elect_options, help_text> parse_elect_options(
    const std::vector<std::string>& arguments, const environment_lookup& environment);

}  // namespace latchkey::cli
