#include "option_parser.hpp"

#include "text/escape.hpp"
#include "usage_error.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

option_parser::option_parser(std::string command)
    : command_(std::move(command)), app_(std::make_unique<CLI::App>()) {
    app_->set_help_flag();
    flag("-h,--help", help_);
    flag("-V,--version", version_);
}

option_parser::~option_parser() = default;

void option_parser::value(const char* names, std::optional<std::string>& to) {
    app_->add_option_function<std::string>(names, [&to](const std::string& text) { to = text; })
        ->take_last();
}

void option_parser::flag(const char* names, bool& to) {
    app_->add_flag(names, to);
}

/// Whether the word after `word` is its value.
bool option_parser::takes_next_word(const std::string& word) const {
    if (word.rfind("--", 0) == 0) {
        const auto* option = app_->get_option_no_throw(word);  // "--wait=5" is not a name
        return option != nullptr && option->get_expected_min() > 0;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto* option = app_->get_option_no_throw(std::string("-") + word[i]);
        if (option == nullptr) {
            return false;  // the parser will say so
        }
        if (option->get_expected_min() > 0) {
            return i + 1 == word.size();
        }
    }
    return false;
}

/// How many of the arguments are options: they end at the first operand, or before "--".
std::size_t option_parser::count_options(const std::vector<std::string>& arguments) const {
    std::size_t i = 0;
    while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' &&
           arguments[i] != "--" && !asks_for_shell(arguments[i])) {
        i += takes_next_word(arguments[i]) ? 2 : 1;
    }
    return std::min(i, arguments.size());
}

std::vector<std::string> option_parser::read(const std::vector<std::string>& arguments) {
    const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(count_options(arguments));
    for (auto word = arguments.begin(); word != end; ++word) {
        if (word->rfind("--", 0) == 0 && word->back() == '=') {
            throw usage_error(
                fmt::format("'{}' has no value; give one after the '='", escaped(*word)));
        }
    }
    std::vector<std::string> reversed(arguments.begin(), end);  // as CLI11 wants them
    std::reverse(reversed.begin(), reversed.end());
    try {
        app_->parse(std::move(reversed));
    } catch (const CLI::ParseError& e) {
        throw usage_error(
            fmt::format("{}; see latchkey {} --help", escaped_message(e.what()), command_));
    }
    return {end, arguments.end()};
}

bool asks_for_shell(const std::string& word) {
    return word == "-c" || word == "--command";
}

}  // namespace latchkey::cli
