#include <latchkey/inspect.hpp>

#include "act/queue_target.hpp"
#include "commands.hpp"
#include "look/queue_json.hpp"
#include "options/connecting.hpp"
#include "options/run_options.hpp"
#include "options/shared_options.hpp"
#include "output/audit_log.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <iostream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace latchkey::cli {

const command_syntax break_syntax{
    .name = "break",
    .summary = "take a lock away from its holder",
    .usage = {{"--reason", {"PATH", "NODE"}}},
    .about = {{"Takes a lock, permits, a leadership or a place in the queue away from its owner: "
               "deletes NODE, the znode of one participant. NODE is its name or its path, as "
               "latchkey prints it."},
              {"This is not mutual exclusion. The next participant is granted the lock at once, "
               "and the owner of NODE may still work. It notices when an event arrives, or never. "
               "latchkey revoke asks the owner instead. Use break if the owner is known to be "
               "dead, and if its znode has no session that could end."}},
    .options =
        {{{"--reason", "TEXT", "why, for the line on stdout and the audit. At most 512 bytes"},
          {"--yes", "", "do not ask. Without a terminal it is required"},
          {"--audit",
           "FILE",
           "append a line about it to FILE, as a JSON object, instead of the system's log "
           "(facility auth)"}},
         connection_options("give up if no server answers for SEC seconds (10)",
                            "print the line on stdout, events and errors as JSON objects")},
    .notes = {{"It shows who the owner is by its own account, and asks on the terminal. What it "
               "has deleted is one line on stdout, and one in the system's log, or in FILE."}},
    .examples = {"latchkey break /jobs/nightly _c_0f8f-lock-0000000007 --reason 'host gone'",
                 R"(latchkey break --yes --reason INC-4711 /jobs/nightly "$NODE")"},
    .exit_status = "0 if NODE was deleted",
    .failures = {{1, "NODE is not there, or the answer was no"},
                 {64, "wrong use"},
                 {65, "NODE is not a participant"},
                 {69, "no server answers"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized"}},
};

namespace {

struct break_options : program_options {
    std::string node;
    std::string reason;
    std::string audit;
    bool yes = false;
};

bool has_terminal_to_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

void check_break(const break_options& options) {
    constexpr std::size_t longest_reason = 512;
    options.check();
    if (options.reason.empty()) {
        throw usage_error("why? give --reason TEXT, for those who ask what happened");
    }
    if (options.reason.size() > longest_reason) {
        throw usage_error(fmt::format(
            "--reason: it has {} bytes; give at most {}", options.reason.size(), longest_reason));
    }
    if (!options.yes && !has_terminal_to_ask()) {
        throw usage_error("there is no terminal to ask on; give --yes to break it without asking");
    }
}

break_options parse_break(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(break_syntax, arguments);
    const auto& operands = line.operands;
    break_options options;
    options.take(line);
    options.reason = line.text("--reason").value_or("");
    options.audit = line.text("--audit").value_or("syslog");
    options.yes = line.has("--yes");
    if (operands.size() != 2) {
        throw usage_error(
            fmt::format("break takes PATH and NODE, not {} operands; latchkey break --help has "
                        "examples",
                        operands.size()));
    }
    options.path = operands[0];
    options.node = operands[1];
    check_break(options);
    return options;
}

std::string session_of(const participant& whom) {
    return whom.hidden() ? "unknown" : session_text(whom.session_id);
}

bool user_agrees(const queue_view& seen, const participant& whom) {
    std::cerr << fmt::format(
        "{} is a {}. {} {} it:\n  {}, session {}{}\n"
        "The next participant gets it at once, and this owner may still work. Break it? [y/N] ",
        escaped(seen.path),
        to_string(seen.kind),
        escaped(whom.name),
        whom.holding ? "holds" : "waits for",
        owner_of(whom),
        session_of(whom),
        whom.session_alive ? ", which the servers have not ended" : "");
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

std::string text_of_break(const break_options& options, const participant& whom) {
    const std::string owner = owner_of(whom);
    if (options.json) {
        return line_of({{"deleted", whom.path},
                        {"owner", owner},
                        {"session", session_of(whom)},
                        {"reason", options.reason}});
    }
    return fmt::format(
        "deleted {} of {}: {}\n", escaped(whom.path), owner, escaped(options.reason));
}

nlohmann::json record_of_break(const break_options& options, const participant& whom) {
    return {{"event", "break"},
            {"path", escaped(options.path)},
            {"node", escaped(whom.path)},
            {"owner", owner_of(whom)},
            {"session", session_of(whom)},
            {"reason", escaped(options.reason)}};
}

}  // namespace

int break_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_break(arguments);
    output = status_output(options.verbose, options.json);
    audit_log audit(options.audit);
    const client zk = client::connect(options.servers, client_options_of(options, output));
    const queue_view seen = inspect(zk, options.path);
    const auto whom = participant_named(seen, options.node);
    if (!whom) {
        output.error(fmt::format("there is no participant '{}' on {}; nothing was deleted",
                                 escaped(options.node),
                                 escaped(options.path)));
        return exit_status::not_acquired;
    }
    if (!options.yes && !user_agrees(seen, *whom)) {
        output.error("nothing was deleted");
        return exit_status::not_acquired;
    }
    if (!break_hold(zk, *whom, options.reason)) {
        output.error(
            fmt::format("{} has left by itself; nothing was deleted", escaped(whom->path)));
        return exit_status::not_acquired;
    }
    if (!audit.write(std::chrono::system_clock::now(), record_of_break(options, *whom))) {
        output.error(fmt::format("cannot write the audit to {}", escaped(audit.name())));
    }
    print_result(text_of_break(options, *whom));
    return exit_status::success;
}

}  // namespace latchkey::cli
