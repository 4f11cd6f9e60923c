#pragma once

#include <latchkey/client.hpp>

#include "options/option_parser.hpp"
#include "options/run_options.hpp"
#include "output/status_output.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

/// The options of the commands that look at locks, and their operands.
struct path_options : program_options {
    std::vector<std::string> paths;

    /// Reads the words. `parser` may know more options. At most so many paths; if none is given,
    /// `otherwise`. Throws usage_error and help_request.
    void read(option_parser& parser,
              const std::vector<std::string>& arguments,
              std::size_t most,
              const std::string& otherwise);
};

}  // namespace latchkey::cli
