#include "leader_view.hpp"

#include "path.hpp"

#include <utility>

namespace latchkey {

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
    static_cast<void>(directory);
    if (name_of(path).find(candidate_names.exclusive) == std::string_view::npos) {
        who.token.zxid = znode.stat.czxid;  // as a mutex has it
    }
    return who;
}

}  // namespace latchkey
