#include "look/member_monitor.hpp"

#include <latchkey/group.hpp>

#include "look/member_changes.hpp"
#include "look/monitor.hpp"

#include <string>
#include <vector>

namespace latchkey::cli {

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

}  // namespace latchkey::cli
