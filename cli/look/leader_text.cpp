#include "look/leader_text.hpp"

#include "output/json_text.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

namespace latchkey::cli {

std::string leader_line(const std::optional<leader_info>& leader) {
    if (!leader) {
        return "no leader\n";
    }
    const bool known = leader->token.zxid != 0;
    auto line = fmt::format("leader {} {} {}",
                            escaped(leader->id),
                            known ? leader->token.to_string() : "-",
                            escaped(leader->path));
    return line + (leader->data.empty() ? "" : " " + escaped(leader->data)) + '\n';
}

std::string leader_json_line(const std::string& path, const std::optional<leader_info>& leader) {
    json_object object{{"path", path}, {"leader", nullptr}};
    if (leader) {
        object["leader"] = leader->id;
        object["node"] = leader->path;
        object["token"] = nullptr;
        if (leader->token.zxid != 0) {
            object["token"] = leader->token.to_string();
        }
        object["data"] = leader->data;
    }
    return line_of(object);
}

}  // namespace latchkey::cli
