#pragma once

#include "options/command_syntax.hpp"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::cli {

/// Thrown for -h and -V: what() is the text to print on stdout.
struct help_request : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What -V prints: the versions of latchkey and of what it contains, and whether it has TLS.
[[nodiscard]] std::string version_line();

/// The words after a command's name, as its table of options reads them. Options may stand behind
/// operands, up to "--". Those of a command that runs one of the user end at the first operand, so
/// that the options of that command are never taken for options of latchkey.
struct command_line {
    struct given_option {
        const option_syntax* option;
        std::string value;
    };

    const command_syntax* syntax = nullptr;
    std::vector<given_option> given;
    std::vector<std::string> option_words;  ///< as they were typed
    std::vector<std::string> operands;
    std::size_t first_operand = 0;           ///< index of a word
    bool options_ended = false;              ///< by "--", or by the operands
    const option_syntax* waiting = nullptr;  ///< the last word is its name, without a value
    std::string problem;                     ///< the first one; empty if there is none

    /// Never throws. `syntax` must outlive the result.
    [[nodiscard]] static command_line of(const command_syntax& syntax,
                                         const std::vector<std::string>& words);

    /// Throws usage_error and help_request.
    [[nodiscard]] static command_line read(const command_syntax& syntax,
                                           const std::vector<std::string>& words);

    [[nodiscard]] bool has(std::string_view name) const { return value(name) != nullptr; }

    /// The last value given, or null. `name` is one of the option's names.
    [[nodiscard]] const std::string* value(std::string_view name) const;

    [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
        const auto* const found = value(name);
        return found != nullptr ? std::optional(*found) : std::nullopt;
    }

    /// A duration in seconds, if it is given. `shown` names it in a refusal.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> seconds(
        const char* name, const char* shown = nullptr) const;

private:
    void take_long(const std::string& word);
    void take_short(const std::string& word);
    void refuse(std::string why);
};

/// Whether the next word is a command line for the shell: -c.
[[nodiscard]] bool asks_for_shell(const std::string& word);

/// Removes "--" from the front, if it is there.
void drop_double_dash(std::vector<std::string>& words);

}  // namespace latchkey::cli
