#include <latchkey/lock_tree.hpp>

#include "commands.hpp"
#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "options/connecting.hpp"
#include "options/duration_text.hpp"
#include "options/number_text.hpp"
#include "options/path_options.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax tree_syntax{
    .name = "tree",
    .summary = "list all locks",
    .usage = {{"", {"[PATH]"}}},
    .about = {{"Lists all locks below PATH (/), of any kind and library: how many hold each, how "
               "many wait, since when, and the first holder. It changes nothing, reads no znode "
               "twice, and sends at most 64 requests at a time."}},
    .options =
        {{{"--waiters", "", "read the znodes of those that wait, too. With --json they are listed"},
          {"--max-depth", "N", "visit N levels below PATH (64)"},
          {"--max-znodes", "N", "stop after reading N znodes (1000000)"}},
         connection_options(
             "give up if no server answers for SEC seconds (10)",
             "print one JSON object for each lock, one at the end, and errors as JSON objects")},
    .notes = {{"SINCE is when the first holder's znode was created, by the servers' clock. AGE "
               "relies on the clock of this machine, too. Paths that may not be read are listed as "
               "\"unreadable\". A barrier, a group and the like count as held."}},
    .examples = {"latchkey tree",
                 "latchkey tree /jobs",
                 "latchkey tree --json / | jq -r 'select(.waiters > 10) | .path'"},
    .exit_status = "0 if there are locks",
    .failures = {{1, "there is no lock below PATH"},
                 {64, "wrong use"},
                 {65, "the list is not complete, because of --max-depth or --max-znodes"},
                 {69, "no server answers"},
                 {71, "the system failed"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized to read PATH"}},
};

namespace {

struct tree_options : path_options {
    lock_tree_options limits;
};

tree_options parse_tree(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(tree_syntax, arguments);
    tree_options options;
    options.take(line, 1, "/");
    options.limits.waiters = line.has("--waiters");
    const auto limit = [&line](const char* option, std::size_t& to) {
        if (const auto text = line.text(option)) {
            to = number_from<std::size_t>(option, *text, 0, 1'000'000'000);
        }
    };
    limit("--max-depth", options.limits.max_depth);
    limit("--max-znodes", options.limits.max_znodes);
    return options;
}

/// The path comes last but for the holder, because its length is not known.
constexpr const char* columns = "{:<17} {:>5} {:>6} {:>8}  {:<20}  {}  {}\n";

std::string tree_line(const lock_tree_entry& e, wall_clock::time_point now) {
    const queue_view& v = e.view;
    if (e.ec) {
        return fmt::format(
            columns, "unreadable", "-", "-", "-", "-", escaped(v.path), e.ec.message());
    }
    const auto holder = std::find_if(v.participants.begin(),
                                     v.participants.end(),
                                     [](const participant& p) { return p.holding; });
    const bool held = holder != v.participants.end();
    const std::size_t holders = holders_in(v);
    std::string who = held ? who_text(*holder) : e.waiting > 0 ? "nothing holds it" : "";
    if (holders > 1) {
        who += fmt::format(" and {} more", holders - 1);
    }
    if (!v.malformed.empty()) {
        who += " [malformed children: nothing more is granted]";
    }
    return fmt::format(columns,
                       to_string(v.kind),
                       holders,
                       e.waiting,
                       held && !holder->hidden() ? age_text(age_of(*holder, now)) : "-",
                       held ? since_text(*holder) : "-",
                       escaped(v.path),
                       who);
}

std::string end_json(const lock_tree_summary& s) {
    return line_of({{"type", "end"},
                    {"locks", s.locks},
                    {"unreadable", s.unreadable},
                    {"znodes", s.znodes},
                    {"ending", to_string(s.end)}});
}

}  // namespace

int tree_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_tree(arguments);
    output = status_output(options.verbose, options.json);
    const std::string& root = options.paths.front();
    const client zk = client::connect(options.servers, client_options_of(options, output));
    const auto now = wall_clock::now();
    bool any = false;
    std::error_code root_failed;
    const auto visit = [&](const lock_tree_entry& e) {
        if (e.view.path == root && e.ec) {
            root_failed = e.ec;
            return;
        }
        if (!std::exchange(any, true) && !options.json) {
            print_result(
                fmt::format(columns, "KIND", "HOLD", "WAIT", "AGE", "SINCE", "PATH", "HOLDER"));
        }
        print_result(options.json ? line_of(json_of(e)) : tree_line(e, now));
    };
    const lock_tree_summary end = walk_locks(zk, root, visit, options.limits);
    if (root_failed) {
        throw error(root_failed, escaped(root));
    }
    if (options.json) {
        print_result(end_json(end));
    }
    if (end.end != lock_tree_summary::ending::complete) {
        output.error(fmt::format(
            "not complete: {} after {} znodes; give a higher {}",
            to_string(end.end),
            end.znodes,
            end.end == lock_tree_summary::ending::too_deep ? "--max-depth" : "--max-znodes"));
        return exit_status::failed;
    }
    return end.locks > 0 ? exit_status::success : exit_status::not_acquired;
}

}  // namespace latchkey::cli
