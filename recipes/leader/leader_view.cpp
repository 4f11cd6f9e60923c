#include "leader/leader_view.hpp"

#include "leader/leader_record.hpp"
#include "queue/queue_order.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

std::vector<std::string> heads_of(const std::vector<std::string>& names) {
    std::vector<std::string> ordered = in_order(names, candidate_names);
    std::size_t heads = ordered.empty() ? 0 : 1;
    while (heads > 0 && heads < ordered.size() &&
           place_of(ordered[heads], candidate_names).sequence ==
               place_of(ordered.front(), candidate_names).sequence) {
        ++heads;
    }
    ordered.resize(heads);
    return ordered;
}

leader_info leader_from(const std::string& path, const reply& znode, const reply& directory) {
    leader_info who{.id = znode.data, .data = {}, .token = {}, .path = path};
    const std::string_view name = name_of(path);
    if (name.find(candidate_names.exclusive) == std::string_view::npos) {
        who.token.zxid = znode.stat.czxid;  // as for a mutex
    }
    auto record = read_leader_record(directory.data);
    if (record && record->successor == name) {
        who.token.zxid = directory.stat.mzxid;
    } else if (record && record->znode == name) {
        who.token = token_of(*record, directory.stat.mzxid);
        who.data = std::move(record->data);
    }
    return who;
}

}  // namespace latchkey::inline v0
