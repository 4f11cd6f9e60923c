#include "options/option_parser.hpp"

#include <latchkey/version.hpp>

#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

std::string version_line() {
    const library_version v = version();
    return fmt::format("latchkey {}{}{}\nApache ZooKeeper C client {}\nOpenSSL {}\n",
                       v.library,
                       v.commit.empty() ? "" : ", commit ",
                       v.commit,
                       v.zookeeper_client,
                       v.openssl);
}

option_parser::option_parser(std::string command, std::string help)
    : command_(std::move(command)),
      help_text_(std::move(help)),
      app_(std::make_unique<CLI::App>()) {
    app_->set_help_flag();
    flag("-h,--help", help_);
    flag("-V,--version", version_);
}

option_parser::~option_parser() = default;

void option_parser::describe(std::string_view placeholder, std::string_view lines) {
    const std::string line = std::string(placeholder) + '\n';
    if (const auto at = help_text_.find(line); at != std::string::npos) {
        help_text_.replace(at, line.size(), lines);
    }
}

void option_parser::value(const char* names, value_reader read) {
    std::string_view last = names;
    last.remove_prefix(last.find_last_of(',') + 1);  // from its start, if there is no comma
    last.remove_prefix(last.find_first_not_of('-'));
    values_.push_back(
        std::make_unique<declared>(declared{std::string(last), std::move(read), std::nullopt}));
    app_->add_option_function<std::string>(
            names, [to = values_.back().get()](const std::string& text) { to->given = text; })
        ->take_last();
}

void option_parser::value(const char* names, std::optional<std::string>& to) {
    value(names, [&to](const std::string& text) { to = text; });
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
            return false;  // CLI11 reports it
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

void option_parser::parse(std::vector<std::string> options) {
    for (const auto& word : options) {
        if (word.rfind("--", 0) == 0 && word.back() == '=') {
            throw usage_error(
                fmt::format("'{}' has no value; give one after the '='", escaped(word)));
        }
    }
    std::reverse(options.begin(), options.end());  // CLI11 reads from the back
    try {
        app_->parse(std::move(options));
    } catch (const CLI::ParseError& e) {
        throw usage_error(
            fmt::format("{}; see latchkey {} --help", escaped_message(e.what()), command_));
    }
}

std::vector<std::string> option_parser::read(const std::vector<std::string>& arguments) {
    const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(count_options(arguments));
    parse({arguments.begin(), end});
    if (help_ || version_) {
        throw help_request(help_ ? help_text_ : version_line());
    }
    for (const auto& one : values_) {
        if (one->given) {
            one->read(*one->given);
        }
    }
    take_fallbacks();
    return {end, arguments.end()};
}

void option_parser::take_fallbacks() {
    for (const auto& one : values_) {
        const auto found =
            fallback_ && !one->given ? fallback_(one->name) : std::optional<setting>();
        if (found) {
            try {
                one->read(found->text);
            } catch (const usage_error& e) {
                throw usage_error(fmt::format("{}: {}", found->source, e.what()));
            }
        }
    }
}

std::vector<std::string> option_parser::read_anywhere(const std::vector<std::string>& arguments) {
    std::vector<std::string> options;
    std::vector<std::string> operands;
    for (auto at = arguments.begin(); at != arguments.end();) {
        if (*at == "--") {
            operands.insert(operands.end(), at + 1, arguments.end());
            break;
        }
        const bool is_option = at->size() > 1 && at->front() == '-';
        const auto words = is_option && takes_next_word(*at) && arguments.end() - at > 1 ? 2 : 1;
        auto& to = is_option ? options : operands;
        to.insert(to.end(), at, at + words);
        at += words;
    }
    const auto rest = read(options);
    operands.insert(operands.begin(), rest.begin(), rest.end());
    return operands;
}

bool asks_for_shell(const std::string& word) {
    return word == "-c" || word == "--command";
}

void drop_double_dash(std::vector<std::string>& words) {
    if (!words.empty() && words.front() == "--") {
        words.erase(words.begin());
    }
}

}  // namespace latchkey::cli
