#include <latchkey/leader_latch.hpp>

#include "commands.hpp"
#include "options/connecting.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <optional>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax resign_syntax{
    .name = "resign",
    .summary = "ask the leader to hand over",
    .usage = {{"", {"PATH"}}},
    .about = {{"Asks the leader of the election on PATH to hand over. The leader finishes its work "
               "and becomes a candidate again, at the tail of the queue. It leads again if there "
               "is no other candidate. latchkey elect can be asked, and so can programs whose "
               "leader_latch has a leader_preference. Apache Curator's leaders cannot."}},
    .options = {{{"--to",
                  "ID",
                  "hand over to the candidate with this ID, ahead of all others. Nothing happens "
                  "if there is no such candidate, or if it does not accept"}},
                connection_options("give up if no server answers for SEC seconds (10)",
                                   "print events and errors as JSON objects")},
    .notes = {{"latchkey resign does not wait for the next leader. latchkey elect -l reports it."}},
    .exit_status = "0 if the leader was asked",
    .failures = {{1, "there is no leader"},
                 {64, "wrong use"},
                 {65, "the leader cannot be asked"},
                 {69, "no server answers"},
                 {77, "not authorized"}},
};

namespace {

struct resign_options : program_options {
    std::optional<std::string> to;
};

resign_options parse_resign(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(resign_syntax, arguments);
    const auto& operands = line.operands;
    resign_options options;
    options.take(line);
    options.to = line.text("--to");
    if (operands.empty()) {
        throw usage_error(
            "which election? give its path, for example: latchkey resign /service/leader");
    }
    if (operands.size() > 1) {
        throw usage_error(fmt::format("'{}' after PATH: resign takes one path; leave it out",
                                      escaped(operands[1])));
    }
    options.path = operands.front();
    options.check();
    return options;
}

}  // namespace

int resign_command(const std::vector<std::string>& arguments, status_output& output) {
    using enum leader_latch::resignation;
    const auto options = parse_resign(arguments);
    output = status_output(options.verbose, options.json);
    client zk = client::connect(options.servers, client_options_of(options, output));
    switch (leader_latch::request_resignation(zk, options.path, options.to)) {
        case requested:
            output.event("requested", "the leader was asked to hand over");
            return exit_status::success;
        case no_leader:
            output.error(fmt::format("there is no leader on {}", escaped(options.path)));
            return exit_status::not_acquired;
        case not_possible:
            break;
    }
    output.error(fmt::format(
        "the leader on {} does not take requests to hand over; stop its program instead",
        escaped(options.path)));
    return exit_status::failed;
}

}  // namespace latchkey::cli
