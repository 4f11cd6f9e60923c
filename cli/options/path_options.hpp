#pragma once

#include <latchkey/client.hpp>

#include "options/run_options.hpp"
#include "output/status_output.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// The options of the commands that look at locks, and their operands.
struct path_options : program_options {
    std::vector<std::string> paths;

    /// At most `most` paths; if none is given, `otherwise`. Throws usage_error.
    void take(const command_line& line, std::size_t most, const std::string& otherwise);
};

}  // namespace latchkey::cli
