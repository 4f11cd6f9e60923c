#include <latchkey/boottime_clock.hpp>
#include <latchkey/duration.hpp>
#include <latchkey/group.hpp>

#include "commands.hpp"
#include "options/duration_text.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "run/supervised_run.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax join_syntax{
    .name = "join",
    .summary = "run a command as a member of a group",
    .usage = {{"", {"PATH", "NAME"}, "[[--] CMD [ARG]... | -c STRING]"}},
    .about = {{"Runs CMD as the member NAME of the group PATH. Other clients see the member as "
               "long as CMD runs and the session lives. If the session is lost, latchkey joins "
               "again by itself, and CMD continues. -c runs STRING with $SHELL, or with /bin/sh if "
               "SHELL is not set. Without a command latchkey prints \"PATH NODE\" when it has "
               "joined, and stays until it gets INT, TERM, HUP, QUIT, USR1 or USR2. Then it exits "
               "with status 0. Apache Curator's GroupMember can be in the same group."}},
    .options = {{{"--data", "S", "what the member publishes, for example its address"},
                 {"-w, --wait, --timeout",
                  "SEC",
                  "give up after SEC seconds, including the time to connect. Another session that "
                  "has NAME is waited for. 0: join only if NAME is free"}},
                connection_options("a dead member disappears after about SEC (10)",
                                   "print the line on stdout, events and errors as JSON objects",
                                   {acl_option, pass_auth_option, quiet_option})},
    .notes = {{"CMD gets LATCHKEY_PATH and LATCHKEY_NODE (its znode) in its environment. It gets "
               "stdin, and a process group of its own. latchkey forwards INT, TERM, HUP, QUIT, "
               "USR1 and USR2 to that group."},
              {"A membership is no lock: a member that was cut off from the servers disappears, "
               "and its command continues. If latchkey is killed, it kills CMD and everything that "
               "CMD started, and the member disappears then."}},
    .examples = {R"(latchkey join --data "$HOSTNAME:8080" /workers "$HOSTNAME" -- ./worker)",
                 "latchkey members --follow /workers"},
    .exit_status = "CMD's own; 128+N if signal N ended CMD or the wait",
    .failures = {{1, "not joined in time (-w)"},
                 {64, "wrong use"},
                 {65, "it cannot join"},
                 {69, "no server reached within the wait"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized"},
                 {126, "CMD cannot be executed"},
                 {127, "CMD not found"}},
    .environment = command_environment(false),
};

namespace {

struct join_command_options : run_options {
    std::string name;
    std::string data;
    std::optional<std::chrono::nanoseconds> wait;
};

join_command_options parse_join(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(join_syntax, arguments);
    join_command_options options;
    options.take(line);
    options.data = line.text("--data").value_or("");
    options.wait = line.seconds("--wait", "-w/--wait");
    auto operands = line.operands;
    drop_double_dash(operands);
    if (operands.size() < 2 || asks_for_shell(operands[0]) || asks_for_shell(operands[1])) {
        throw usage_error(
            "which group, and as whom? give PATH and NAME, for example: latchkey join /workers "
            "\"$HOSTNAME\" -- CMD");
    }
    options.path = std::move(operands[0]);
    options.name = std::move(operands[1]);
    operands.erase(operands.begin(), operands.begin() + 2);
    options.command = command_from(std::move(operands), environment_variable);
    options.check();
    return options;
}

/// A membership never ends by itself.
held_resource member(std::shared_ptr<membership> m, const std::string& node) {
    const auto far = boottime_clock::now() + std::chrono::hours(24 * 365 * 10);
    return {.valid = [m = std::move(m)] { return true; },
            .valid_until = [far] { return far; },
            .why_lost = [] { return loss_reason::none; },
            .nodes = {node}};
}

std::optional<held_resource> join_group(client& c,
                                        const join_command_options& options,
                                        const std::stop_token& stop) {
    latchkey::group members(c, options.path);
    auto joined = members.join_for(
        options.name, options.wait.value_or(no_timeout), {.data = options.data, .stop = stop});
    if (!joined) {
        return std::nullopt;
    }
    return member(std::make_shared<membership>(std::move(joined)),
                  options.path + '/' + options.name);
}

}  // namespace

int join_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_join(arguments);
    output = options.output();
    const run_kind what{.acquire =
                            [&options](client& c, const std::stop_token& stop, place_listener) {
                                return join_group(c, options, stop);
                            },
                        .name = "membership",
                        .acquired = "joined",
                        .released = "left",
                        .waits_for = waiting_line::about::nothing};
    return supervised_run(options, what, output).execute();
}

}  // namespace latchkey::cli
