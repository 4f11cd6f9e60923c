#include <latchkey/error.hpp>

#include "commands.hpp"
#include "options/command_line.hpp"
#include "options/help.hpp"
#include "options/man_page.hpp"
#include "output/exit_status.hpp"
#include "output/process_start.hpp"
#include "output/service_manager.hpp"
#include "text/escape.hpp"

#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace latchkey::cli {

namespace {

struct command {
    const command_syntax& syntax;
    command_function& run;
};

const std::array commands{command{lock_syntax, lock_command},
                          command{elect_syntax, elect_command},
                          command{resign_syntax, resign_command},
                          command{leader_syntax, leader_command},
                          command{who_syntax, who_command},
                          command{tree_syntax, tree_command},
                          command{watch_syntax, watch_command},
                          command{doctor_syntax, doctor_command},
                          command{serve_syntax, serve_command},
                          command{ping_syntax, ping_command},
                          command{revoke_syntax, revoke_command},
                          command{break_syntax, break_command},
                          command{resize_syntax, resize_command},
                          command{barrier_syntax, barrier_command},
                          command{join_syntax, join_command},
                          command{members_syntax, members_command},
                          command{dev_server_syntax, dev_server_command}};

std::vector<const command_syntax*> table() {
    std::vector<const command_syntax*> all;
    for (const command& one : commands) {
        all.push_back(&one.syntax);
    }
    return all;
}

const command& find_command(const std::string& name) {
    for (const command& one : commands) {
        if (name == one.syntax.name) {
            return one;
        }
    }
    if (name.starts_with('-')) {
        throw usage_error("'" + escaped(name) +
                          "' is before the command: options follow it, as in latchkey lock " +
                          escaped(name) + " ...; see latchkey --help");
    }
    throw usage_error("'" + escaped(name) + "' is not a command; see latchkey --help");
}

std::string program_help() {
    return help_of(program_syntax(table()));
}

/// `latchkey help [COMMAND]`.
std::string help_for(const std::vector<std::string>& words) {
    if (words.size() > 1) {
        throw usage_error("help describes one command; leave '" + escaped(words[1]) + "' out");
    }
    const bool of_program =
        words.empty() || words.front() == "help" || words.front().rfind('-', 0) == 0;
    return of_program ? program_help() : help_of(find_command(words.front()).syntax);
}

int run(std::vector<std::string> arguments, status_output& output) {
    const std::string name = std::move(arguments.front());
    arguments.erase(arguments.begin());
    if (name == "-h" || name == "--help") {
        throw help_request(program_help());
    }
    if (name == "-V" || name == "--version") {
        throw help_request(version_line());
    }
    if (name == "help") {
        throw help_request(help_for(arguments));
    }
    if (name == "__man" && arguments.size() == 1) {
        write_man_pages(arguments.front(), table());
        return exit_status::success;
    }
    if (name == "__complete") {
        return complete_command(arguments, table());
    }
    return find_command(name).run(arguments, output);
}

/// The exit status.
int run_and_report(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        static_cast<void>(write_to(STDERR_FILENO, program_help()));
        return exit_status::usage;
    }
    find_service_manager();
    status_output output(false, false);
    try {
        return run(std::move(arguments), output);
    } catch (const help_request& help) {
        return write_to_stdout(help.what()) ? exit_status::success : exit_status::output_failed;
    } catch (const command_failure& e) {
        output.error(e.what());
        return e.status;
    } catch (const error& e) {
        output.error(escaped_message(e.what()));
        return exit_status::of_error(e.code());
    } catch (const std::exception& e) {
        output.error(escaped_message(e.what()));
        return exit_status::system_failed;
    }
}

}  // namespace

}  // namespace latchkey::cli

int main(int count, char** words) {
    latchkey::cli::hide_memory();
    if (!latchkey::cli::open_standard_descriptors()) {
        return latchkey::cli::exit_status::system_failed;
    }
    return latchkey::cli::run_and_report({words + (count > 0 ? 1 : 0), words + count});
}
