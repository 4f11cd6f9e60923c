#include <latchkey/group.hpp>

#include "commands.hpp"
#include "look/member_monitor.hpp"
#include "options/connecting.hpp"
#include "options/members_options.hpp"
#include "output/exit_status.hpp"

#include <string>

namespace latchkey::cli {

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
