#include "elect_options.hpp"

#include "elect_help.hpp"
#include "lock_help.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

/// Options may end with "--" before the PATH.
std::string take_election_path(std::vector<std::string>& operands) {
    if (!operands.empty() && operands.front() == "--") {
        operands.erase(operands.begin());
    }
    if (operands.empty() || asks_for_shell(operands.front())) {
        throw usage_error(
            "which election? give its path, for example: latchkey elect /service/leader -- CMD");
    }
    auto path = std::move(operands.front());
    operands.erase(operands.begin());
    return path;
}

int priority_from(const std::string& text) {
    int priority = 0;
    const char* const end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, priority);
    if (failed != std::errc() || read != end) {
        throw usage_error(
            fmt::format("--priority: '{}' is no whole number; give one from -1000000 to 1000000",
                        escaped(text)));
    }
    return priority;
}

/// Who only looks on has no use for what a candidate is asked.
void check_follow(const elect_options& options,
                  const std::optional<std::string>& id,
                  const std::optional<std::string>& data,
                  const std::optional<std::string>& priority) {
    const auto refuse = [](const std::string& what) {
        throw usage_error(
            fmt::format("-l and {}: -l tells who leads, and takes no part; leave one out", what));
    };
    if (id) {
        refuse("--id");
    }
    if (data) {
        refuse("--data");
    }
    if (priority) {
        refuse("--priority");
    }
    if (options.once) {
        refuse("--once");
    }
    if (!options.command.empty()) {
        refuse("the command '" + escaped(options.command.front()) + '\'');
    }
}

}  // namespace

std::variant<elect_options, help_text> parse_elect_options(
    const std::vector<std::string>& arguments, const environment_lookup& environment) {
    option_parser parser("elect");
    run_words words;
    elect_options options;
    std::optional<std::string> id;
    std::optional<std::string> data;
    std::optional<std::string> priority;
    words.declare(parser, options);
    parser.value("--id", id);
    parser.value("--data", data);
    parser.value("--priority", priority);
    parser.flag("--once", options.once);
    parser.flag("-l,--listen", options.follow);
    auto operands = parser.read(arguments);
    if (parser.help()) {
        return help_text{elect_help()};
    }
    if (parser.version()) {
        return help_text{version_line()};
    }
    options.path = take_election_path(operands);
    options.command = command_from(std::move(operands), environment);
    if (options.follow) {
        check_follow(options, id, data, priority);
    }
    if (id && id->empty()) {
        throw usage_error("--id is empty; leave it out for the host's name and the process id");
    }
    options.id = std::move(id).value_or("");
    options.data = std::move(data).value_or("");
    if (priority) {
        options.priority = priority_from(*priority);
    }
    words.judge(options, environment);
    return options;
}

}  // namespace latchkey::cli
