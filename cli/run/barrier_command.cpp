#include <latchkey/barrier.hpp>
#include <latchkey/duration.hpp>

#include "commands.hpp"
#include "options/connecting.hpp"
#include "options/duration_text.hpp"
#include "options/run_options.hpp"
#include "output/exit_status.hpp"
#include "run/blocking_wait.hpp"
#include "text/escape.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

constexpr const char* barrier_help =
    R"(Usage: latchkey barrier set [OPTION]... PATH
       latchkey barrier remove [OPTION]... PATH
       latchkey barrier wait [OPTION]... PATH

A barrier on PATH: clients that wait at it continue when it is removed. Apache
Curator's DistributedBarrier.

  set       creates the barrier, which may exist already. It stays until a
            client removes it
  remove    removes it; it may be gone already
  wait      waits until there is no barrier; returns at once if there is none

      --timeout SEC          wait: give up after SEC seconds, including the time
                             to connect. SEC may have a fraction

{servers}
  -t, --session-timeout SEC  set and remove: give up if no server answers for
                             SEC seconds (10)
{credentials}
{acl}
  -q, --quiet                print nothing on stderr but errors
      --verbose              report on stderr what happens
      --json                 print events and errors as JSON objects
  -h, --help                 print this text
  -V, --version              print the version

EXAMPLES
  latchkey barrier set /migration
  ./migrate && latchkey barrier remove /migration
  latchkey barrier wait --timeout 600 /migration && ./serve

Exit status: 0 if it was set or removed, or is not there (wait); 128+N if signal
N ended the wait; and
    1  wait: the time is over              69  no server answers
   64  wrong use                           71  the system refused
   65  it cannot be set or removed         77  not authorized
)";

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
    option_parser parser("barrier", barrier_help);
    barrier_options options;
    options.program_options::declare(parser, environment_variable);
    options.declare_access(parser);
    parser.flag("-q,--quiet", options.quiet);
    parser.value("--timeout", [&](const std::string& text) {
        options.timeout = parse_seconds("--timeout", text);
    });
    take_action(options, parser.read_anywhere(arguments));
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
