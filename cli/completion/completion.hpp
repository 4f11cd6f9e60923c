#pragma once

#include "options/command_line.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace latchkey::cli {

/// What can stand at the cursor of a shell's command line.
struct completion {
    /// What the shell does besides offering the candidates.
    enum class action {
        nothing,
        no_space,  ///< adds no space behind a candidate: a path may go on
        files,     ///< offers names of files
        command    ///< completes a command of its own, which begins at `command_begins`
    };

    struct candidate {
        std::string text;
        std::string description = {};
    };

    std::vector<candidate> candidates = {};
    action then = action::nothing;
    std::size_t command_begins = 0;  ///< index of a word
};

/// Where candidates come from.
struct completion_sources {
    std::span<const command_syntax* const> commands;

    /// The names of the children of the znode `path`, as the options of the command line connect.
    std::function<std::vector<std::string>(const command_line& line, const std::string& path)>
        children_of;
};

/// `words` are those behind the program's name. The last one is at the cursor, and may be empty.
[[nodiscard]] completion complete(const std::vector<std::string>& words,
                                  const completion_sources& sources);

}  // namespace latchkey::cli
