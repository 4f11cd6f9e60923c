#include <latchkey/lock_tree.hpp>

#include "commands.hpp"
#include "look/confirmed_deadlocks.hpp"
#include "look/direct_check.hpp"
#include "look/health_check.hpp"
#include "look/queue_json.hpp"
#include "options/connecting.hpp"
#include "options/number_text.hpp"
#include "options/path_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

const command_syntax doctor_syntax{
    .name = "doctor",
    .summary = "find deadlocks and other problems of locks",
    .usage = {{"", {"[PATH]"}}},
    .about = {{"Looks at all locks below PATH (/), of any kind and library, and reports what is "
               "wrong: what, where, why it matters, and what to do. It changes nothing."},
              {"Problems:",
               {{"deadlock",
                 "clients that wait for each other's locks. Only what two looks show is reported"},
                {"holder_without_session, waiter_without_session",
                 "a holder or waiter that is not ephemeral: nothing but a delete will remove it"},
                {"malformed_children", "they stop all further grants"},
                {"mixed_kinds", "two kinds of lock on one path do not exclude each other"},
                {"sequence_head_room", "few sequence numbers are left"}}},
              {"Advice: waits_for_itself, foreign_children, open_access, empty_directory, "
               "no_datagrams, unreadable, session_timeout, session_timeout_in_ticks"}},
    .options =
        {{{"--strict", "", "count advice as a finding"},
          {"--max-znodes", "N", "stop after reading N znodes (1000000)"}},
         connection_options(
             "give up if no server answers for SEC seconds (10). Give what your programs use: it "
             "is checked",
             "print one JSON object for each finding, one at the end, and errors as JSON objects")},
    .examples = {"latchkey doctor",
                 "latchkey doctor --strict /jobs",
                 R"(latchkey doctor --json | jq -r 'select(.level == "problem") | .what')"},
    .exit_status = "0 if no problem was found",
    .failures = {{1, "there are problems (with --strict: or advice)"},
                 {2,
                  "it cannot tell: no server answers, PATH does not exist, or part of the tree was "
                  "not read, and there is no problem in the rest"},
                 {64, "wrong use"},
                 {74, "cannot write to stdout"}},
};

namespace {

constexpr int cannot_tell = 2;

struct doctor_options : path_options {
    lock_tree_options walk{.others = true, .access = true};
    bool strict = false;
};

doctor_options parse_doctor(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(doctor_syntax, arguments);
    doctor_options options;
    options.take(line, 1, "/");
    options.strict = line.has("--strict");
    if (const auto most = line.text("--max-znodes")) {
        options.walk.max_znodes = number_from<std::size_t>("--max-znodes", *most, 1, 1'000'000'000);
    }
    return options;
}

/// A shorter session than most servers grant, with time for the handshake: the C client waits for
/// that for two thirds of it.
constexpr auto short_session = std::chrono::milliseconds(300);

/// How long clients have to answer a datagram.
constexpr auto answering_datagrams = std::chrono::milliseconds(600);

/// What the servers grant a client that asks for a short session; zero if that stays unknown.
std::chrono::milliseconds least_timeout(const doctor_options& options,
                                        const status_output& output) {
    auto how = client_options_of(options, output);
    how.session_timeout = short_session;
    const client shortest = client::connect(options.servers, std::move(how));
    return shortest.wait_connected(std::chrono::seconds(2)) ? shortest.session_timeout()
                                                            : std::chrono::milliseconds();
}

int examine(const doctor_options& options, const status_output& output) {
    const client zk = client::connect(options.servers, client_options_of(options, output));
    health_check health(wall_clock::now());
    direct_check datagrams;
    const std::string& root = options.paths.front();
    std::size_t znodes = 0;
    const lock_tree_summary end = walk_locks(
        zk,
        root,
        [&](const lock_tree_entry& e) {
            health.look_at(e);
            datagrams.look_at(e.view);
        },
        options.walk);
    znodes = end.znodes;
    if (znodes == 0) {
        throw command_failure(cannot_tell, fmt::format("there is no {}", escaped(root)));
    }
    health.add_deadlocks(confirmed_deadlocks(zk, health.contended()));
    health.look_at_timeouts(
        options.session_timeout, zk.session_timeout(), least_timeout(options, output));
    datagrams.ask(answering_datagrams);
    if (const auto silent = datagrams.silent()) {
        health.add(*silent);
    }
    const auto found = health.findings();
    std::size_t problems = 0;
    for (const finding& f : found) {
        problems += f.how_bad == finding::level::problem ? 1 : 0;
        print_result(options.json ? line_of(json_of(f)) : text_of(f) + '\n');
    }
    const bool complete =
        end.end == lock_tree_summary::ending::complete && health.unreadable() == 0;
    print_result(options.json ? line_of({{"type", "end"},
                                         {"locks", health.locks()},
                                         {"unreadable", health.unreadable()},
                                         {"znodes", znodes},
                                         {"ending", to_string(end.end)},
                                         {"direct_clients", datagrams.clients()},
                                         {"direct_answered", datagrams.answered()},
                                         {"problems", problems},
                                         {"advice", found.size() - problems}})
                              : fmt::format("{} lock{} below {}: {} problem{}, {} advice{}{}\n",
                                            health.locks(),
                                            health.locks() == 1 ? "" : "s",
                                            escaped(root),
                                            problems,
                                            problems == 1 ? "" : "s",
                                            found.size() - problems,
                                            datagrams.clients() == 0
                                                ? ""
                                                : fmt::format("; {} of {} clients answer datagrams",
                                                              datagrams.answered(),
                                                              datagrams.clients()),
                                            complete ? "" : "; not everything was read"));
    if (problems > 0 || (options.strict && !found.empty())) {
        return exit_status::not_acquired;
    }
    return complete ? exit_status::success : cannot_tell;
}

}  // namespace

int doctor_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_doctor(arguments);
    output = status_output(options.verbose, options.json);
    try {
        return examine(options, output);
    } catch (const error& e) {
        throw command_failure(cannot_tell, escaped_message(e.what()));
    }
}

}  // namespace latchkey::cli
