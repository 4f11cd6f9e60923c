#include <latchkey/group.hpp>

#include "commands.hpp"
#include "look/member_changes.hpp"
#include "look/monitor.hpp"
#include "options/connecting.hpp"
#include "options/members_options.hpp"
#include "output/exit_status.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

namespace {

/// Prints the members, then each change, until a signal arrives.
int follow_members(const members_options& options, const status_output& output) {
    monitor all(options, output);
    group members(all.zk(), options.path);
    std::vector<group_member> known;
    const auto print_changes = [&](const std::vector<group_member>& now) {
        std::string text;
        for (const auto& [event, who] : changes_between(known, now)) {
            text += line_of_member(who, event, options.json);
        }
        known = now;
        all.print(text);
    };
    const subscription watching = members.on_change([&](const std::vector<group_member>& now) {
        all.loop().post([&print_changes, now] { print_changes(now); });
    });
    return all.run([&] { static_cast<void>(members.members()); });
}

}  // namespace

int members_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = parse_members(arguments);
    output = status_output(options.verbose, options.json);
    if (options.follow) {
        return follow_members(options, output);
    }
    const client zk = client::connect(options.servers, client_options_of(options, output));
    std::string text;
    for (const group_member& m : group(zk, options.path).members()) {
        text += line_of_member(m, "", options.json);
    }
    print_result(text);
    return text.empty() ? exit_status::not_acquired : exit_status::success;
}

}  // namespace latchkey::cli
