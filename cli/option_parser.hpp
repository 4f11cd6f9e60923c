#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace latchkey::cli {

/// The options of one of the program's commands. They end at the first operand, so that the options
/// of a command that is run are never taken for latchkey's.
class option_parser {
public:
    /// `command` is its name, for messages.
    explicit option_parser(std::string command);
    option_parser(const option_parser&) = delete;
    option_parser& operator=(const option_parser&) = delete;
    ~option_parser();

    /// Declares them; `names` is "-z,--servers". What they are read into outlives this object.
    void value(const char* names, std::optional<std::string>& to);
    void flag(const char* names, bool& to);

    /// Asked for instead: -h, -V.
    [[nodiscard]] bool help() const noexcept { return help_; }

    [[nodiscard]] bool version() const noexcept { return version_; }

    /// Reads the options; what follows them is returned. Throws usage_error.
    [[nodiscard]] std::vector<std::string> read(const std::vector<std::string>& arguments);

private:
    [[nodiscard]] bool takes_next_word(const std::string& word) const;
    [[nodiscard]] std::size_t count_options(const std::vector<std::string>& arguments) const;

    const std::string command_;
    std::unique_ptr<CLI::App> app_;
    bool help_ = false;
    bool version_ = false;
};

/// What follows such a word is for the shell.
[[nodiscard]] bool asks_for_shell(const std::string& word);

}  // namespace latchkey::cli
