#include "options/command_line.hpp"

#include <latchkey/version.hpp>

#include "options/duration_text.hpp"
#include "options/help.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

bool is_option(const std::string& word) {
    return word.size() > 1 && word.front() == '-' && word != "--";
}

std::string unexpected(const std::string& name) {
    return fmt::format("The following argument was not expected: {}", escaped(name));
}

}  // namespace

std::string version_line() {
    const library_version v = version();
    return fmt::format("latchkey {}{}{}\nApache ZooKeeper C client {}\nOpenSSL {}\n",
                       v.library,
                       v.commit.empty() ? "" : ", commit ",
                       v.commit,
                       v.zookeeper_client,
                       v.openssl);
}

void command_line::refuse(std::string why) {
    if (problem.empty()) {
        problem = std::move(why);
    }
}

void command_line::take_long(const std::string& word) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const auto* const option = syntax->option(name);
    if (option == nullptr) {
        refuse(unexpected(word));
    } else if (equals == std::string::npos) {
        given.push_back({option, ""});
        waiting = option->value.empty() ? nullptr : option;
    } else if (option->value.empty()) {
        refuse(fmt::format("'{}': {} takes no value", escaped(word), name));
    } else {
        given.push_back({option, word.substr(equals + 1)});
    }
}

/// A word such as "-nw5".
void command_line::take_short(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
        const auto name = std::string("-") + word[i];
        const auto* const option = syntax->option(name);
        if (option == nullptr) {
            refuse(unexpected(name));
            return;
        }
        given.push_back({option, ""});
        if (!option->value.empty()) {
            given.back().value = word.substr(i + 1);
            waiting = i + 1 == word.size() ? option : nullptr;
            return;
        }
    }
}

command_line command_line::of(const command_syntax& syntax, const std::vector<std::string>& words) {
    const bool runs = syntax.runs_command();
    command_line line;
    line.syntax = &syntax;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (line.waiting != nullptr) {
            line.given.back().value = word;
            line.option_words.push_back(word);
            line.waiting = nullptr;
        } else if (!is_option(word) || (runs && asks_for_shell(word))) {
            // What runs a command has rules of its own for "--".
            line.options_ended = runs || word == "--";
            const auto begin = static_cast<std::ptrdiff_t>(word == "--" && !runs ? i + 1 : i);
            if (line.operands.empty()) {
                line.first_operand = static_cast<std::size_t>(begin);
            }
            const auto end = line.options_ended ? words.end() : words.begin() + begin + 1;
            line.operands.insert(line.operands.end(), words.begin() + begin, end);
            if (line.options_ended) {
                break;
            }
        } else {
            line.option_words.push_back(word);
            if (word.starts_with("--")) {
                line.take_long(word);
            } else {
                line.take_short(word);
            }
        }
    }
    if (line.waiting != nullptr) {
        line.refuse(fmt::format("{} has no value", line.option_words.back()));
    }
    return line;
}

command_line command_line::read(const command_syntax& syntax,
                                const std::vector<std::string>& words) {
    auto line = of(syntax, words);
    for (const auto& word : line.option_words) {
        if (word.starts_with("--") && word.back() == '=') {
            throw usage_error(
                fmt::format("'{}' has no value; give one after the '='", escaped(word)));
        }
    }
    if (!line.problem.empty()) {
        throw usage_error(
            fmt::format("{}; see latchkey {} --help", escaped_message(line.problem), syntax.name));
    }
    if (line.has("--help") || line.has("--version")) {
        throw help_request(line.has("--help") ? help_of(syntax) : version_line());
    }
    return line;
}

const std::string* command_line::value(std::string_view name) const {
    const auto found = std::find_if(given.rbegin(), given.rend(), [name](const given_option& one) {
        return one.option->has_name(name);
    });
    return found == given.rend() ? nullptr : &found->value;
}

std::optional<std::chrono::nanoseconds> command_line::seconds(const char* name,
                                                              const char* shown) const {
    const auto* const found = value(name);
    return found != nullptr ? std::optional(parse_seconds(shown != nullptr ? shown : name, *found))
                            : std::nullopt;
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
