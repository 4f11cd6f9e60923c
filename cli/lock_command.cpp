#include "lock_command.hpp"

#include "lock_attempt.hpp"
#include "lock_options.hpp"
#include "program_command.hpp"

#include <variant>

namespace latchkey::cli {

int lock_command(const std::vector<std::string>& arguments) {
    bool json = false;
    return exit_status_of(json, [&] {
        const auto asked = parse_lock_options(arguments, environment);
        if (const auto* help = std::get_if<help_text>(&asked)) {
            return print_help(*help);
        }
        const auto& options = std::get<lock_options>(asked);
        json = options.json;
        return run_command(options, to_lock(options));
    });
}

}  // namespace latchkey::cli
