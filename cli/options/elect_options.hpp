#pragma once

#include "options/run_options.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// The options of `latchkey elect`, checked as far as possible without a server.
struct elect_options : run_options {
    std::string id;    ///< empty: host and process
    std::string data;  ///< published with the leadership
    int priority = 0;
    bool once = false;    ///< exit after the first term
    bool follow = false;  ///< -l: report the leader instead of taking part
};

/// Reads the words after "latchkey elect". Throws usage_error and help_request.
[[nodiscard]] elect_options parse_elect_options(const std::vector<std::string>& arguments,
                                                const environment_lookup& environment);

}  // namespace latchkey::cli
