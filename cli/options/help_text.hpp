#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::cli {

/// An option, as a help text describes it.
struct described_option {
    std::vector<std::string> names;  ///< "-z" and "--servers"
    std::string value;               ///< "HOSTS"; empty if the option takes no value
    std::string text;

    [[nodiscard]] bool has_name(std::string_view name) const;
};

/// One line of the usage: what can follow the command's name, besides options in brackets.
struct usage_form {
    std::vector<std::string> flags;     ///< options that this form needs: "--all"
    std::vector<std::string> operands;  ///< "PATH", "CMD", "..."
    bool repeats = false;               ///< the last operand may be given several times
};

/// What a program can know from a help text. Completion and the manual pages have no other source.
struct help_contents {
    std::vector<usage_form> usage;
    std::vector<described_option> options;
    std::vector<std::pair<std::string, std::string>> commands;  ///< names and descriptions

    /// Null if there is none of this name.
    [[nodiscard]] const described_option* option(std::string_view name) const;
};

[[nodiscard]] help_contents read_help(std::string_view text);

}  // namespace latchkey::cli
