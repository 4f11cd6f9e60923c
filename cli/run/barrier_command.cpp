#include <latchkey/barrier.hpp>
#include <latchkey/duration.hpp>

#include "commands.hpp"
#include "options/connecting.hpp"
#include "options/duration_text.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "run/blocking_wait.hpp"
#include "text/escape.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax barrier_syntax{
    .name = "barrier",
    .summary = "set or remove a barrier, or wait at it",
    .usage = {{"", {"set|remove|wait", "PATH"}}},
    .about =
        {{"A barrier on PATH: clients that wait at it continue when it is removed. Apache "
          "Curator's DistributedBarrier."},
         {"",
          {{"set",
            "creates the barrier, which may exist already. It stays until a client removes it"},
           {"remove", "removes it; it may be gone already"},
           {"wait", "waits until there is no barrier; returns at once if there is none"}}}},
    .options = {{{"--timeout",
                  "SEC",
                  "wait: give up after SEC seconds, including the time to connect. SEC may have a "
                  "fraction"}},
                connection_options(
                    "set and remove: give up if no server answers for SEC seconds (10)",
                    "print events and errors as JSON objects",
                    {acl_option, quiet_option})},
    .examples = {"latchkey barrier set /migration",
                 "./migrate && latchkey barrier remove /migration",
                 "latchkey barrier wait --timeout 600 /migration && ./serve"},
    .exit_status =
        "0 if it was set or removed, or is not there (wait); 128+N if signal N ended the wait",
    .failures = {{1, "wait: the time is over"},
                 {64, "wrong use"},
                 {65, "it cannot be set or removed"},
                 {69, "no server answers"},
                 {71, "the system refused"},
                 {77, "not authorized"}},
};

namespace {

struct barrier_options : run_options {
    std::string action;
    std::chrono::nanoseconds timeout = no_timeout;
};

void take_action(barrier_options& options, const std::vector<std::string>& operands) {
    if (operands.size() != 2) {
        throw usage_error(
            fmt::format("barrier takes set, remove or wait, and PATH, not {} operands; for "
                        "example: latchkey barrier set /migration",
                        operands.size()));
    }
    options.action = operands[0];
    options.path = operands[1];
    if (options.action != "set" && options.action != "remove" && options.action != "wait") {
        throw usage_error(
            fmt::format("'{}' is nothing to do with a barrier; give set, remove or "
                        "wait",
                        escaped(options.action)));
    }
    if (options.action != "wait" && options.timeout != no_timeout) {
        throw usage_error("--timeout is for barrier wait; leave it out, or give -t");
    }
}

barrier_options parse_barrier(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(barrier_syntax, arguments);
    barrier_options options;
    options.program_options::take(line);
    options.quiet = line.has("--quiet");
    options.timeout = line.seconds("--timeout").value_or(no_timeout);
    take_action(options, line.operands);
    options.check();
    return options;
}

int wait_at_barrier(const barrier_options& options, const status_output& output) {
    return wait_beside_signals(
        options, output, [&options](const client& c, const std::stop_token& stop) {
            return barrier(c, options.path).wait_for(options.timeout, stop);
        });
}

}  // namespace

int barrier_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_barrier(arguments);
    output = options.output();
    if (options.action == "wait") {
        return wait_at_barrier(options, output);
    }
    const client zk = client::connect(options.servers, client_options_of(options, output));
    barrier one(zk, options.path);
    if (options.action == "set") {
        one.set();
    } else {
        one.remove();
    }
    output.event(options.action, fmt::format("{} {}", options.action, escaped(options.path)));
    return exit_status::success;
}

}  // namespace latchkey::cli
