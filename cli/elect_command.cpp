#include "elect_command.hpp"

#include "elect_attempt.hpp"
#include "elect_options.hpp"
#include "leader_monitor.hpp"
#include "program_command.hpp"

#include <variant>

namespace latchkey::cli {

namespace {

int follow(const elect_options& options) {
    const signals arriving;
    const status_output told(options.verbose, options.json);
    return leader_monitor(options, client_options_of(options, told), arriving, told).execute();
}

}  // namespace

int elect_command(const std::vector<std::string>& arguments) {
    bool json = false;
    return exit_status_of(json, [&] {
        const auto asked = parse_elect_options(arguments, environment);
        if (const auto* help = std::get_if<help_text>(&asked)) {
            return print_help(*help);
        }
        const auto& options = std::get<elect_options>(asked);
        json = options.json;
        return options.follow ? follow(options) : run_command(options, to_lead(options));
    });
}

}  // namespace latchkey::cli
