#include "dev_server_command.hpp"
#include "elect_command.hpp"
#include "exit_status.hpp"
#include "lock_command.hpp"
#include "lock_help.hpp"
#include "output.hpp"
#include "resign_command.hpp"
#include "status_output.hpp"
#include "text/escape.hpp"

#include <string>
#include <vector>

int main(int count, char** words) {
    using namespace latchkey::cli;
    std::vector<std::string> arguments(words + (count > 0 ? 1 : 0), words + count);
    const std::string command = arguments.empty() ? "" : arguments.front();
    if (command == "lock") {
        arguments.erase(arguments.begin());
        return lock_command(arguments);
    }
    if (command == "elect") {
        arguments.erase(arguments.begin());
        return elect_command(arguments);
    }
    if (command == "resign") {
        arguments.erase(arguments.begin());
        return resign_command(arguments);
    }
    if (command == "dev-server") {
        arguments.erase(arguments.begin());
        return dev_server_command(arguments);
    }
    if (command == "-h" || command == "--help" || command == "-V" || command == "--version") {
        const auto text = command == "-h" || command == "--help" ? program_help() : version_line();
        return write_to_stdout(text) ? exit_status::success : exit_status::output_failed;
    }
    status_output(false, false)
        .error(command.empty()
                   ? "which command? see latchkey --help"
                   : "'" + latchkey::escaped(command) + "' is not a command; see latchkey --help");
    return exit_status::usage;
}
