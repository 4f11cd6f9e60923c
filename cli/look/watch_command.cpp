#include "commands.hpp"
#include "look/queue_monitor.hpp"
#include "options/path_options.hpp"
#include "output/exit_status.hpp"

namespace latchkey::cli {

namespace {

constexpr const char* watch_help = R"(Usage: latchkey watch [OPTION]... PATH

Shows who holds PATH and who waits for it, all the time, until a signal ends it.
On a terminal the queue is drawn again in place. Otherwise one line is printed
for each change. It changes nothing, and it does not ask the servers again and
again: watches report changes. At most five times a second it reads the queue,
so what came and went in between is not shown.

{servers}
  -t, --session-timeout SEC  ask for a session timeout of SEC seconds (10)
{credentials}
      --verbose              report on stderr what happens
      --json                 print one JSON object for each change, and errors
                             as JSON objects
  -h, --help                 print this text
  -V, --version              print the version

A line: TIME EVENT STATE MODE WHO NODE. EVENT is
  present  it was there at the start   granted   it holds the lock now
  joined   it waits                    released  it held the lock, and has gone
  left     it waited, and has gone     demoted   it held the lock, and waits
  mode     it asks for another mode    kind, malformed  of the path itself

EXAMPLES
  latchkey watch /jobs/nightly
  latchkey watch /jobs/nightly | tee nightly.log
  latchkey watch --json /jobs/nightly | jq -r 'select(.event == "granted")'

Exit status: 0 if a signal ended it, and
   64  wrong use                           74  cannot write to stdout
   65  another error                       77  not authorized
   71  the system failed
)";

path_options parse_watch(const std::vector<std::string>& arguments) {
    option_parser parser("watch", watch_help);
    path_options options;
    options.read(parser, arguments, 1, {});
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
