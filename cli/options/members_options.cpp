#include "options/members_options.hpp"

#include "commands.hpp"
#include "options/shared_options.hpp"
#include "output/exit_status.hpp"
#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

namespace latchkey::cli {

const command_syntax members_syntax{
    .name = "members",
    .summary = "list the members of a group",
    .usage = {{"", {"PATH"}}},
    .about = {{"Prints the names of the members of the group PATH, sorted, one a line. Control "
               "characters in names are escaped."}},
    .options = {{{"--follow",
                  "",
                  "continue: a line \"joined NAME\" for each member that is there, and one for "
                  "each change: \"joined NAME\", \"changed NAME\" (its data) or \"left NAME\". "
                  "Changes that follow each other quickly are reported as one. INT, TERM, HUP, "
                  "QUIT, USR1 or USR2 ends it with status 0"}},
                connection_options(
                    "without --follow: give up if no server answers for SEC seconds (10)",
                    "print JSON objects: event (with --follow), name, data, session")},
    .examples = {"latchkey members /workers",
                 "latchkey members --json /workers | jq -r .data",
                 "latchkey members --follow /workers"},
    .exit_status = "0 if there is a member, or a signal ended --follow",
    .failures = {{1, "there is no member"},
                 {64, "wrong use"},
                 {65, "the group cannot be read"},
                 {69, "no server answers"},
                 {71, "the system refused"},
                 {74, "cannot write to stdout"},
                 {77, "not authorized"}},
};

namespace {}  // namespace

members_options parse_members(const std::vector<std::string>& arguments) {
    const auto line = command_line::read(members_syntax, arguments);
    const auto& operands = line.operands;
    members_options options;
    options.take(line);
    options.follow = line.has("--follow");
    if (operands.size() != 1) {
        throw usage_error(fmt::format(
            "members takes one PATH, not {} operands; for example: latchkey members /workers",
            operands.size()));
    }
    options.path = operands.front();
    options.check();
    return options;
}

std::string line_of_member(const group_member& m, const std::string& event, bool json) {
    if (!json) {
        return event + (event.empty() ? "" : " ") + escaped(m.name) + '\n';
    }
    json_object object;
    if (!event.empty()) {
        object["event"] = event;
    }
    object["name"] = m.name;
    object["data"] = m.data;
    object["session"] = session_text(m.session_id);
    return line_of(object);
}

}  // namespace latchkey::cli
