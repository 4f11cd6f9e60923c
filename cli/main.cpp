#include <latchkey/error.hpp>

#include "commands.hpp"
#include "options/option_parser.hpp"
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

constexpr const char* program_help = R"(Usage: latchkey COMMAND [OPTION]...

Locks and leader election on Apache ZooKeeper, for commands and scripts.

Commands:
  lock        run a command while holding a lock
  elect       run a command while leading, or report the leader
  resign      ask the leader to hand over
  leader      report the leader once
  who         show who holds a lock and who waits for it
  tree        list all locks
  watch       show a lock whenever it changes
  doctor      find deadlocks and other problems of locks
  serve       show all locks to browsers and monitoring
  ping        measure how long the servers take to answer
  revoke      ask the holder of a lock to give it up
  break       take a lock away from its holder
  resize      change the number of permits of a semaphore
  barrier     set or remove a barrier, or wait at it
  join        run a command as a member of a group
  members     list the members of a group
  dev-server  run a ZooKeeper ensemble for development, in memory

latchkey help COMMAND and latchkey COMMAND --help describe a command.
  -h, --help     print this text
  -V, --version  print the version
)";

using command = int (*)(const std::vector<std::string>& arguments, status_output& output);

constexpr std::array<std::pair<std::string_view, command>, 17> commands{
    {{"lock", lock_command},
     {"elect", elect_command},
     {"resign", resign_command},
     {"leader", leader_command},
     {"who", who_command},
     {"tree", tree_command},
     {"watch", watch_command},
     {"doctor", doctor_command},
     {"serve", serve_command},
     {"ping", ping_command},
     {"revoke", revoke_command},
     {"break", break_command},
     {"resize", resize_command},
     {"barrier", barrier_command},
     {"join", join_command},
     {"members", members_command},
     {"dev-server", dev_server_command}}};

command find_command(const std::string& name) {
    for (const auto& [known, run_command] : commands) {
        if (name == known) {
            return run_command;
        }
    }
    if (name.starts_with('-')) {
        throw usage_error("'" + escaped(name) +
                          "' is before the command: options follow it, as in latchkey lock " +
                          escaped(name) + " ...; see latchkey --help");
    }
    throw usage_error("'" + escaped(name) + "' is not a command; see latchkey --help");
}

/// The help text of a command, or of the program for "".
std::string help_of(const std::string& name) {
    try {
        status_output silent(false, false);
        static_cast<void>(name.empty() ? 0 : find_command(name)({"--help"}, silent));
    } catch (const help_request& help) {
        return help.what();
    }
    return program_help;
}

/// `latchkey help [COMMAND]`.
std::string help_for(const std::vector<std::string>& words) {
    if (words.size() > 1) {
        throw usage_error("help describes one command; leave '" + escaped(words[1]) + "' out");
    }
    const bool of_program =
        words.empty() || words.front() == "help" || words.front().rfind('-', 0) == 0;
    return help_of(of_program ? "" : words.front());
}

int run(std::vector<std::string> arguments, status_output& output) {
    const std::string name = std::move(arguments.front());
    arguments.erase(arguments.begin());
    if (name == "-h" || name == "--help") {
        throw help_request(program_help);
    }
    if (name == "-V" || name == "--version") {
        throw help_request(version_line());
    }
    if (name == "help") {
        throw help_request(help_for(arguments));
    }
    if (name == "__complete") {
        return complete_command(arguments, help_of);
    }
    return find_command(name)(arguments, output);
}

/// The exit status.
int run_and_report(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        static_cast<void>(write_to(STDERR_FILENO, program_help));
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
