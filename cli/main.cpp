#include <latchkey/error.hpp>

#include "commands.hpp"
#include "exit_status.hpp"
#include "option_parser.hpp"
#include "text/escape.hpp"

#include <array>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  dev-server  run a ZooKeeper ensemble for development, in memory

latchkey COMMAND --help describes a command.
  -h, --help     print this text
  -V, --version  print the version
)";

using command = int (*)(const std::vector<std::string>& arguments, status_output& output);

constexpr std::array<std::pair<std::string_view, command>, 11> commands{
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
     {"dev-server", dev_server_command}}};

int run(std::vector<std::string> arguments, status_output& output) {
    if (arguments.empty()) {
        throw usage_error("which command? see latchkey --help");
    }
    const std::string name = std::move(arguments.front());
    arguments.erase(arguments.begin());
    if (name == "-h" || name == "--help") {
        throw help_request(program_help);
    }
    if (name == "-V" || name == "--version") {
        throw help_request(version_line());
    }
    for (const auto& [known, run_command] : commands) {
        if (name == known) {
            return run_command(arguments, output);
        }
    }
    throw usage_error("'" + escaped(name) + "' is not a command; see latchkey --help");
}

/// The exit status.
int run_and_report(std::vector<std::string> arguments) {
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
    return latchkey::cli::run_and_report({words + (count > 0 ? 1 : 0), words + count});
}
