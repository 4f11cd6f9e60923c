#pragma once

#include <cstddef>
#include <functional>
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
    /// The help text of a command, or of the program for "". Throws usage_error if there is none.
    std::function<std::string(const std::string& command)> help_of;

    /// The names of the children of the znode `path`. `options` are the options of the command
    /// line.
    std::function<std::vector<std::string>(const std::vector<std::string>& options,
                                           const std::string& path)>
        children_of;
};

/// `words` are those behind the program's name. The last one is at the cursor, and may be empty.
[[nodiscard]] completion complete(const std::vector<std::string>& words,
                                  const completion_sources& sources);

}  // namespace latchkey::cli
