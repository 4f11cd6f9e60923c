#include <latchkey/leader_observer.hpp>

#include "commands.hpp"
#include "look/leader_text.hpp"
#include "options/connecting.hpp"
#include "options/path_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"

namespace latchkey::cli {

const command_syntax leader_syntax{
    .name = "leader",
    .summary = "report the leader once",
    .usage = {{"", {"PATH"}}},
    .about = {{"Prints the present leader of the election on PATH, as \"leader ID TOKEN NODE "
               "DATA\", or \"no leader\". TOKEN is \"-\" if the leader publishes none, as Apache "
               "Curator's leaders do. It changes nothing. latchkey elect -l prints the same "
               "whenever the leader changes, and latchkey who PATH shows all candidates."}},
    .options = {connection_options("give up if no server answers for SEC seconds (10)",
                                   "print one JSON object, and errors as JSON objects")},
    .notes = {{"One server answers, and it may be behind: another candidate may lead already. "
               "Programs that act on the answer need the leader's token, or a transaction."}},
    .examples = {"latchkey leader /services/billing",
                 "latchkey leader --json /services/billing | jq -r .data"},
    .exit_status = "0 if a candidate leads",
    .failures = failures_of_reading("no candidate leads"),
};

namespace {

path_options parse_leader(const std::vector<std::string>& arguments) {
    path_options options;
    options.take(command_line::read(leader_syntax, arguments), 1, "");
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
