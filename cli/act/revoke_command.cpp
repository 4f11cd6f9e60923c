#include <latchkey/inspect.hpp>

#include "act/queue_target.hpp"
#include "commands.hpp"
#include "options/connecting.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax revoke_syntax{
    .name = "revoke",
    .summary = "ask the holder of a lock to give it up",
    .usage = {{"", {"PATH", "[NODE]"}}},
    .about = {{"Asks the holders of the lock PATH to give it up, or the participant NODE to give "
               "up its place. NODE is the name or the path of its znode. The owner decides: "
               "latchkey lock sends TERM to its command, and programs that use Latchkey's "
               "hold::revocation_requested() or Apache Curator's Revocable react as they like. "
               "kazoo and go-zookeeper ignore it. For an election use latchkey resign."}},
    .options = {connection_options("give up if no server answers for SEC seconds (10)",
                                   "print the lines on stdout, events and errors as JSON objects")},
    .notes = {{"It prints a line for each participant that was asked, and does not wait for what "
               "they do."}},
    .examples = {"latchkey revoke /jobs/nightly",
                 "latchkey revoke /jobs/nightly _c_0f8f...-lock-0000000007"},
    .exit_status = "0 if a participant was asked",
    .failures = {{1, "nothing holds PATH, or NODE is not there"},
                 {64, "wrong use"},
                 {65, "PATH is an election, or NODE is not a participant"},
                 {69, "no server answers"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized"}},
};

namespace {

struct revoke_options : program_options {
    std::string node;  ///< empty: all holders
};

revoke_options parse_revoke(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(revoke_syntax, arguments);
    const auto& operands = line.operands;
    revoke_options options;
    options.take(line);
    if (operands.empty() || operands.size() > 2) {
        throw usage_error(fmt::format(
            "revoke takes PATH and perhaps NODE, not {} operands; for example: latchkey revoke "
            "/jobs/nightly",
            operands.size()));
    }
    options.path = operands.front();
    options.node = operands.size() > 1 ? operands.back() : "";
    options.check();
    return options;
}

std::vector<participant> those_to_ask(const queue_view& seen, const std::string& node) {
    if (seen.kind == lock_kind::leader_election) {
        throw command_failure(
            exit_status::failed,
            fmt::format("{} is an election; latchkey resign asks its leader", escaped(seen.path)));
    }
    std::vector<participant> asked;
    if (!node.empty()) {
        if (auto one = participant_named(seen, node)) {
            asked.push_back(*std::move(one));
        }
        return asked;
    }
    for (const participant& p : seen.participants) {
        if (p.holding) {
            asked.push_back(p);
        }
    }
    return asked;
}

std::string text_of_request(const participant& p, bool json) {
    const std::string owner = owner_of(p);
    const json_object object{{"asked", p.path}, {"owner", owner}};
    return json ? line_of(object) : fmt::format("asked {} of {}\n", escaped(p.path), owner);
}

}  // namespace

int revoke_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_revoke(arguments);
    output = status_output(options.verbose, options.json);
    const client zk = client::connect(options.servers, client_options_of(options, output));
    bool any = false;
    for (const participant& p : those_to_ask(inspect(zk, options.path), options.node)) {
        if (revoke(zk, p)) {
            any = true;
            print_result(text_of_request(p, options.json));
        }
    }
    if (any) {
        return exit_status::success;
    }
    output.error(options.node.empty() ? fmt::format("nothing holds {}", escaped(options.path))
                                      : fmt::format("there is no participant '{}' on {}",
                                                    escaped(options.node),
                                                    escaped(options.path)));
    return exit_status::not_acquired;
}

}  // namespace latchkey::cli
