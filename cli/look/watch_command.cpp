#include "commands.hpp"
#include "look/queue_monitor.hpp"
#include "options/path_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"

namespace latchkey::cli {

const command_syntax watch_syntax{
    .name = "watch",
    .summary = "show a lock whenever it changes",
    .usage = {{"", {"PATH"}}},
    .about = {{"Shows who holds PATH and who waits for it, all the time, until a signal ends it. "
               "On a terminal the queue is drawn again in place. Otherwise one line is printed for "
               "each change. It changes nothing, and it does not ask the servers again and again: "
               "watches report changes. At most five times a second it reads the queue, so what "
               "came and went in between is not shown."}},
    .options = {connection_options(
        "ask for a session timeout of SEC seconds (10)",
        "print one JSON object for each change, and errors as JSON objects")},
    .notes = {{"A line: TIME EVENT STATE MODE WHO NODE. EVENT is",
               {{"present", "it was there at the start"},
                {"joined", "it waits"},
                {"left", "it waited, and has gone"},
                {"mode", "it asks for another mode"},
                {"granted", "it holds the lock now"},
                {"released", "it held the lock, and has gone"},
                {"demoted", "it held the lock, and waits"},
                {"kind, malformed", "of the path itself"}}}},
    .examples = {"latchkey watch /jobs/nightly",
                 "latchkey watch /jobs/nightly | tee nightly.log",
                 R"(latchkey watch --json /jobs/nightly | jq -r 'select(.event == "granted")')"},
    .exit_status = "0 if a signal ended it",
    .failures = {{64, "wrong use"},
                 {65, "another error"},
                 {71, "the system failed"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized"}},
};

namespace {

path_options parse_watch(const std::vector<std::string>& arguments) {
    path_options options;
    options.take(command_line::read(watch_syntax, arguments), 1, "");
    if (options.paths.empty()) {
        throw usage_error("which lock? give its path, for example: latchkey watch /jobs/nightly");
    }
    return options;
}

}  // namespace

int watch_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_watch(arguments);
    output = status_output(options.verbose, options.json);
    queue_monitor monitor(options, output);
    return monitor.execute();
}

}  // namespace latchkey::cli
