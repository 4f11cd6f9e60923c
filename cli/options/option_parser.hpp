#pragma once

#include "options/config.hpp"

#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace latchkey::cli {

/// Thrown for -h and -V: what() is the text to print on stdout.
struct help_request : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What -V prints: the versions of latchkey and of what it contains, and whether it has TLS.
[[nodiscard]] std::string version_line();

/// The options of one of latchkey's commands. Of one that runs a command of the user, they end at
/// the first operand, so that the options of that command are never taken for options of latchkey.
class option_parser {
public:
    using value_reader = std::function<void(const std::string& text)>;

    /// `command` is its name, for messages; `help` is what -h prints, with the descriptions of
    /// common options as placeholders.
    option_parser(std::string command, std::string help);
    option_parser(const option_parser&) = delete;
    option_parser& operator=(const option_parser&) = delete;
    ~option_parser();

    /// Puts the lines that describe options in the place of the line `placeholder` of the help.
    void describe(std::string_view placeholder, std::string_view lines);

    /// Gives values to options that are not on the command line, by the last of their names without
    /// its dashes. Asked after the options that are.
    using fallback_lookup = std::function<std::optional<setting>(std::string_view name)>;

    void otherwise(fallback_lookup fallback) { fallback_ = std::move(fallback); }

    /// Declares an option, for example "-z,--servers". `to` must outlive this object. A reader is
    /// called after all options are known, with the last value given.
    void value(const char* names, value_reader read);
    void value(const char* names, std::optional<std::string>& to);
    void flag(const char* names, bool& to);

    /// Reads the options and returns the words that follow them. Throws usage_error and
    /// help_request.
    [[nodiscard]] std::vector<std::string> read(const std::vector<std::string>& arguments);

    /// The same for a command that runs no other one: options may stand behind operands, up to
    /// "--".
    [[nodiscard]] std::vector<std::string> read_anywhere(const std::vector<std::string>& arguments);

private:
    [[nodiscard]] bool takes_next_word(const std::string& word) const;
    [[nodiscard]] std::size_t count_options(const std::vector<std::string>& arguments) const;
    void parse(std::vector<std::string> options);
    void take_fallbacks();

    const std::string command_;
    std::string help_text_;
    std::unique_ptr<CLI::App> app_;

    struct declared {
        std::string name;
        value_reader read;
        std::optional<std::string> given;
    };

    std::vector<std::unique_ptr<declared>> values_;
    fallback_lookup fallback_;
    bool help_ = false;
    bool version_ = false;
};

/// Whether the next word is a command line for the shell: -c.
[[nodiscard]] bool asks_for_shell(const std::string& word);

/// Removes "--" from the front, if it is there.
void drop_double_dash(std::vector<std::string>& words);

/// The number that `text` is, if it is a whole one from `least` to `most`.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, Number least, Number most) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, value);
    const bool valid = error == std::errc() && read == end && value >= least && value <= most;
    return valid ? std::optional(value) : std::nullopt;
}

}  // namespace latchkey::cli
