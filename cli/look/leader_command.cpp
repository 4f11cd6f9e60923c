#include <latchkey/leader_observer.hpp>

#include "commands.hpp"
#include "look/leader_text.hpp"
#include "options/connecting.hpp"
#include "options/path_options.hpp"
#include "output/exit_status.hpp"

namespace latchkey::cli {

namespace {

constexpr const char* leader_help = R"(Usage: latchkey leader [OPTION]... PATH

Prints the present leader of the election on PATH, as "leader ID TOKEN NODE
DATA", or "no leader". TOKEN is "-" if the leader publishes none, as Apache
Curator's leaders do. It changes nothing. latchkey elect -l prints the same
whenever the leader changes, and latchkey who PATH shows all candidates.

{servers}
  -t, --session-timeout SEC  give up if no server answers for SEC seconds (10)
{credentials}
      --verbose              report on stderr what happens
      --json                 print one JSON object, and errors as JSON objects
  -h, --help                 print this text
  -V, --version              print the version

One server answers, and it may be behind: another candidate may lead already.
Programs that act on the answer need the leader's token, or a transaction.

EXAMPLES
  latchkey leader /services/billing
  latchkey leader --json /services/billing | jq -r .data

Exit status: 0 if a candidate leads, and
    1  no candidate leads                  71  the system failed
   64  wrong use                           74  cannot write to stdout
   65  another error                       77  not authorized
   69  no server answers
)";

path_options parse_leader(const std::vector<std::string>& arguments) {
    option_parser parser("leader", leader_help);
    path_options options;
    options.read(parser, arguments, 1, {});
    if (options.paths.empty()) {
        throw usage_error(
            "which election? give its path, for example: latchkey leader /services/billing");
    }
    return options;
}

}  // namespace

int leader_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_leader(arguments);
    output = status_output(options.verbose, options.json);
    const std::string& path = options.paths.front();
    const client zk = client::connect(options.servers, client_options_of(options, output));
    const auto now = leader_observer::leader(zk, path);
    print_result(options.json ? leader_json_line(path, now) : leader_line(now));
    return now ? exit_status::success : exit_status::not_acquired;
}

}  // namespace latchkey::cli
