#include "elect_options.hpp"

#include "elect_help.hpp"
#include "lock_help.hpp"
#include "printable.hpp"
#include "usage_error.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

/// Options may end with "--" before the PATH.
std::string take_path(std::vector<std::string>& operands) {
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

/// Who only looks on has no use for what a candidate is asked.
void check_follow(const elect_options& options,
                  const std::optional<std::string>& id,
                  const std::optional<std::string>& data) {
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
    if (options.once) {
        refuse("--once");
    }
    if (!options.command.empty()) {
        refuse("the command '" + printable(options.command.front()) + '\'');
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
    words.declare(parser, options);
    parser.value("--id", id);
    parser.value("--data", data);
    parser.flag("--once", options.once);
    parser.flag("-l,--listen", options.follow);
    auto operands = parser.read(arguments);
    if (parser.help()) {
        return help_text{elect_help()};
    }
    if (parser.version()) {
        return help_text{version_line()};
    }
    options.path = take_path(operands);
    options.command = command_from(std::move(operands), environment);
    if (options.follow) {
        check_follow(options, id, data);
    }
    if (id && id->empty()) {
        throw usage_error("--id is empty; leave it out for the host's name and the process id");
    }
    options.id = std::move(id).value_or("");
    options.data = std::move(data).value_or("");
    words.judge(options, environment);
    return options;
}

}  // namespace latchkey::cli
