#include "resign_command.hpp"

#include <latchkey/leader_latch.hpp>

#include "exit_status.hpp"
#include "lock_help.hpp"
#include "program_command.hpp"
#include "program_options.hpp"
#include "resign_help.hpp"
#include "status_output.hpp"
#include "text/escape.hpp"
#include "usage_error.hpp"

#include <optional>
#include <variant>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

struct resign_options : program_options {
    std::optional<std::string> to;
};

std::variant<resign_options, help_text> parse_resign(const std::vector<std::string>& arguments) {
    option_parser parser("resign");
    program_words words;
    resign_options options;
    words.declare(parser, options);
    parser.value("--to", options.to);
    auto operands = parser.read(arguments);
    if (parser.help()) {
        return help_text{resign_help()};
    }
    if (parser.version()) {
        return help_text{version_line()};
    }
    if (!operands.empty() && operands.front() == "--") {
        operands.erase(operands.begin());
    }
    if (operands.size() != 1) {
        throw usage_error(
            operands.empty()
                ? "which election? give its path, for example: latchkey resign /service/leader"
                : fmt::format("'{}' after PATH: options come before it", escaped(operands[1])));
    }
    options.path = operands.front();
    words.judge(options, environment);
    return options;
}

int ask(const resign_options& options) {
    using enum leader_latch::resignation;
    const status_output told(options.verbose, options.json);
    client zk = client::connect(options.servers, client_options_of(options, told));
    switch (leader_latch::request_resignation(zk, options.path, options.to)) {
        case requested:
            told.event("requested", "the leader will hear of it");
            return exit_status::success;
        case no_leader:
            told.error(fmt::format("nobody leads on {}", escaped(options.path)));
            return exit_status::not_acquired;
        case not_possible:
            break;
    }
    told.error(fmt::format("the leader on {} takes no part in transfers", escaped(options.path)));
    return exit_status::failed;
}

}  // namespace

int resign_command(const std::vector<std::string>& arguments) {
    bool json = false;
    return exit_status_of(json, [&] {
        const auto asked = parse_resign(arguments);
        if (const auto* help = std::get_if<help_text>(&asked)) {
            return print_help(*help);
        }
        const auto& options = std::get<resign_options>(asked);
        json = options.json;
        return ask(options);
    });
}

}  // namespace latchkey::cli
