#include "options/elect_options.hpp"

#include "commands.hpp"
#include "options/number_text.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax elect_syntax{
    .name = "elect",
    .summary = "run a command while leading, or report the leader",
    .usage = {{"", {"PATH"}, "[[--] CMD [ARG]... | -c STRING]"}, {"-l", {"PATH"}}},
    .about = {{"Takes part in the election of a leader on PATH of a ZooKeeper ensemble, and runs "
               "CMD only while it leads. Candidates that use Apache Curator's LeaderLatch can take "
               "part in the same election. -c runs STRING with $SHELL, or with /bin/sh if SHELL is "
               "not set. When CMD ends or the leadership is lost, latchkey becomes a candidate "
               "again, at the tail of the queue. If CMD ends soon, latchkey waits before it takes "
               "part again: a quarter of a second at first, and up to half a minute. Without a "
               "command latchkey prints \"PATH NODE TOKEN\" when it leads, and leads until it gets "
               "INT, TERM, HUP, QUIT, USR1 or USR2. Then it exits with status 0."}},
    .options =
        {{{"--id",
           "ID",
           "the name of this candidate, at most 512 bytes (default: the host name, \":\" and the "
           "process id)"},
          {"--data",
           "S",
           "what this candidate publishes while it leads, for -l and other observers: an address, "
           "a state"},
          {"--priority",
           "N",
           "hand over to a candidate of higher priority that has been there for ten seconds, if "
           "that candidate takes part in transfers; from -1000000 to 1000000 (0)"},
          {"--once",
           "",
           "exit when CMD ends or the leadership is lost, instead of becoming a candidate again"},
          {"-l, --listen",
           "",
           "do not take part. Print a line on stdout for the present leader, and one whenever that "
           "changes: \"leader ID TOKEN NODE DATA\", or \"no leader\". TOKEN is \"-\" if the leader "
           "publishes none, as Apache Curator's leaders do. INT, TERM, HUP, QUIT, USR1 or USR2 "
           "ends it with status 0"}},
         {{"--grace",
           "SEC",
           "how long CMD may take to end when the leadership is about to be lost. CMD gets TERM "
           "this long before the deadline, and KILL shortly before it. At most a quarter of the "
           "session timeout (default: a twentieth, at most 2)"},
          {"--max-hold",
           "SEC",
           "lead for at most SEC seconds. Before they are over CMD gets TERM and KILL, as at a "
           "loss. With --once the exit status is 124 then"},
          {"--min-hold",
           "SEC",
           "lead for at least SEC seconds, also if CMD ends sooner. A signal, or a request to hand "
           "over, ends it at once"},
          {"--once-per",
           "SEC",
           "with --once: do not run CMD if it has succeeded less than SEC seconds ago on any "
           "machine, by the servers' clock. The exit status is 0 then"},
          {"--on-lost",
           "STRING",
           "run STRING with /bin/sh when the leadership is lost, beside the signals to CMD. It has "
           "ten seconds, and LATCHKEY_REASON says why"}},
         connection_options("a dead leader is replaced after about SEC (10)",
                            "print lines on stdout, events and errors as JSON objects",
                            {acl_option,
                             direct_option,
                             prefer_option,
                             pass_auth_option,
                             audit_option,
                             metrics_option,
                             quiet_option})},
    .notes =
        {{"CMD gets LATCHKEY_PATH, LATCHKEY_NODE (its znode) and LATCHKEY_TOKEN (the fencing "
          "token, a decimal that grows from one leader to the next) in its environment. It gets "
          "stdin, and a process group of its own. latchkey forwards INT, TERM, HUP, QUIT, USR1 and "
          "USR2 to that group. After INT, TERM and QUIT, and after a signal that ended CMD, "
          "latchkey exits when CMD has ended. While latchkey waits to lead, each of these signals "
          "ends it."},
         {"When another candidate is to take over (latchkey resign, or a candidate of higher "
          "priority), CMD gets TERM and may take the time that it needs. The other candidate leads "
          "when CMD has ended, without waiting for a timeout."},
         {"If the leadership is lost, latchkey kills CMD and everything that CMD started before "
          "another candidate can be elected, even if latchkey itself is stopped or killed. After "
          "kill -9 of latchkey another candidate can lead when CMD is dead. Processes that CMD "
          "leaves in the background when it exits keep running, without the leadership."}},
    .examples = {R"(latchkey elect --id "$HOSTNAME" /services/billing -- ./billing)",
                 "latchkey elect --once --max-hold 3600 /services/shift -c './work'",
                 "latchkey elect -l --json /services/billing"},
    .exit_status =
        "CMD's own, with --once or after a signal; 128+N if signal N ended CMD or the wait",
    .failures = {{64, "wrong use"},
                 {65, "the election on PATH is impossible"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {76, "the leadership was lost (--once)"},
                 {77, "not authorized"},
                 {124, "--max-hold is over (--once)"},
                 {126, "CMD cannot be executed"},
                 {127, "CMD not found"}},
    .environment = command_environment(true),
};

namespace {

/// A "--" may end the options before the PATH.
std::string take_election_path(std::vector<std::string>& operands) {
    drop_double_dash(operands);
    if (operands.empty() || asks_for_shell(operands.front())) {
        throw usage_error(
            "which election? give its path, for example: latchkey elect /service/leader -- CMD");
    }
    auto path = std::move(operands.front());
    operands.erase(operands.begin());
    return path;
}

void check_follow(const elect_options& options, const command_line& line) {
    const bool runs = !options.command.empty();
    const std::string command =
        runs ? "the command '" + escaped(options.command.front()) + '\'' : "";
    for (const char* const name : {"--id",
                                   "--data",
                                   "--priority",
                                   "--once",
                                   "--max-hold",
                                   "--min-hold",
                                   "--once-per",
                                   "--on-lost",
                                   command.c_str()}) {
        if (line.has(name) || (runs && name == command)) {
            throw usage_error(fmt::format(
                "-l and {}: -l reports the leader and is not a candidate; leave one out", name));
        }
    }
}

}  // namespace

elect_options parse_elect_options(const std::vector<std::string>& arguments,
                                  const environment_lookup& environment) {
    const auto line = command_line::read(elect_syntax, arguments);
    elect_options options;
    options.take(line, environment);
    options.take_hold(line);
    options.once = line.has("--once");
    options.follow = line.has("--listen");
    auto operands = line.operands;
    options.path = take_election_path(operands);
    options.command = command_from(std::move(operands), environment);
    if (options.follow) {
        check_follow(options, line);
    }
    if (options.once_per && !options.once) {
        throw usage_error("--once-per needs --once: without it the command runs in each term");
    }
    if (const auto* const id = line.value("--id"); id != nullptr && id->empty()) {
        throw usage_error("--id is empty; leave it out for the host's name and the process id");
    }
    options.id = line.text("--id").value_or("");
    options.data = line.text("--data").value_or("");
    if (const auto priority = line.text("--priority")) {
        using limits = std::numeric_limits<int>;
        const auto number = number_in<int>(*priority, limits::min(), limits::max());
        if (!number) {
            throw usage_error(fmt::format(
                "--priority: '{}' is not a whole number; give one from -1000000 to 1000000",
                escaped(*priority)));
        }
        options.priority = *number;
    }
    options.check();
    return options;
}

}  // namespace latchkey::cli
