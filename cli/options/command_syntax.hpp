#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The table of commands and options: what a user can type, and what it means. Parsing, the help,
// the manual pages, completion and configuration files have no other source. Each command has its
// entry beside the code that reads its options, and main.cpp lists the commands. Texts are
// paragraphs without line breaks; `text_layout` breaks them.

namespace latchkey::cli {

struct option_syntax {
    std::string_view names;     ///< "-w, --wait, --timeout"
    std::string_view value;     ///< "SEC"; empty if the option takes none
    std::string_view text;      ///< what it does
    bool configurable = false;  ///< may stand in configuration files, and in LATCHKEY_...

    [[nodiscard]] std::vector<std::string_view> all_names() const;
    [[nodiscard]] bool has_name(std::string_view name) const;

    /// The last of its names without dashes, as configuration files have it.
    [[nodiscard]] std::string_view key() const;
};

/// One form of the command's use: "latchkey NAME [OPTION]... FLAG OPERANDS TAIL".
struct usage_form {
    std::string_view flag;                   ///< an option that this form needs: "--all"
    std::vector<std::string_view> operands;  ///< "PATH", "[NODE]", "PATH...", "set|remove"
    std::string_view command = {};           ///< how a command of the user follows
};

struct described_name {
    std::string_view name;
    std::string_view text;
};

/// A paragraph, or the entries of a list below a line.
struct paragraph {
    std::string_view text;
    std::vector<described_name> list = {};
};

struct command_syntax {
    std::string_view name;
    std::string_view summary;
    std::vector<usage_form> usage;
    std::vector<paragraph> about;
    std::vector<std::vector<option_syntax>> options =
        {};  ///< in groups; those of `basic_options` follow
    std::vector<paragraph> notes = {};
    std::vector<std::string_view> examples = {};
    std::string_view exit_status = {};
    std::vector<std::pair<int, std::string_view>> failures = {};
    std::vector<described_name> environment = {};  ///< besides that of configurable options

    /// Whether a command of the user can follow, whose options are not latchkey's: latchkey's end
    /// at the first operand.
    [[nodiscard]] bool runs_command() const;

    /// The groups of options, and -h and -V.
    [[nodiscard]] std::vector<std::vector<option_syntax>> all_options() const;

    /// Null if there is none of this name.
    [[nodiscard]] const option_syntax* option(std::string_view wanted) const;
};

/// -h and -V, which every command has, and the program itself.
[[nodiscard]] const std::vector<option_syntax>& basic_options();

}  // namespace latchkey::cli
