#include <latchkey/inspect.hpp>

#include "commands.hpp"
#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "options/connecting.hpp"
#include "options/path_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"

#include <limits>

namespace latchkey::cli {

const command_syntax who_syntax{
    .name = "who",
    .summary = "show who holds a lock and who waits for it",
    .usage = {{"", {"PATH..."}}},
    .about = {{"Shows who holds each PATH and who waits for it, in the order of the queue. It "
               "finds out by itself what PATH is: a mutex, shared_mutex, semaphore, election, "
               "barrier or group. Locks of Apache Curator, kazoo and go-zookeeper are shown too. "
               "It changes nothing. latchkey watch PATH shows the same all the time."}},
    .options = {connection_options(
        "give up if no server answers for SEC seconds (10)",
        "print one JSON object for each PATH, and errors as JSON objects")},
    .notes =
        {{"WHO is what the holder says of itself: user@host (process id, program) behind the id "
          "that lock --id gave, the id of a candidate, or the data of another library's znode. "
          "SINCE is when the znode was created, by the servers' clock. AGE relies on the clock of "
          "this machine, too. [no session]: no end of a session will remove it."}},
    .examples = {"latchkey who /jobs/nightly",
                 "latchkey who /jobs/nightly /services/billing",
                 "latchkey who --json /jobs/nightly | jq -r '.participants[0].host'"},
    .exit_status = "0 if something holds a PATH",
    .failures = failures_of_reading("nothing holds any PATH"),
};

namespace {

path_options parse_who(const std::vector<std::string>& arguments) {
    path_options options;
    options.take(
        command_line::read(who_syntax, arguments), std::numeric_limits<std::size_t>::max(), "");
    if (options.paths.empty()) {
        throw usage_error("which lock? give its path, for example: latchkey who /jobs/nightly");
    }
    return options;
}

}  // namespace

int who_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_who(arguments);
    output = status_output(options.verbose, options.json);
    const client zk = client::connect(options.servers, client_options_of(options, output));
    bool held = false;
    for (const std::string& path : options.paths) {
        const queue_view seen = inspect(zk, path);
        held = held || holders_in(seen) > 0;
        print_result(options.json ? line_of(json_of(seen))
                                  : queue_text(seen, {.color = may_color()}));
    }
    return held ? exit_status::success : exit_status::not_acquired;
}

}  // namespace latchkey::cli
