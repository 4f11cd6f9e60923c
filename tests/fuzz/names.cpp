#include "input.hpp"
#include "queue_claims.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

// The children of a lock's directory: anybody may create any. A line each; the first is a prefix
// that does not count.

void latchkey::fuzz::check_input(std::string_view text) {
    using namespace latchkey;
    std::vector<std::string> list = fuzz::split(text, '\n');
    const std::string prefix = list.front();
    list.erase(list.begin());
    // As the children of a znode are.
    std::set<std::string> seen;
    std::erase_if(list, [&](const auto& n) { return n.empty() || !seen.insert(n).second; });
    list.resize(std::min<std::size_t>(list.size(), 40));
    constexpr queue_markers locks{.exclusive = "lock-", .shared = {}, .others = "__lock__"};
    constexpr queue_markers read_write{.exclusive = "__WRIT__", .shared = "__READ__"};
    for (const queue_markers& markers : {locks, read_write}) {
        for (const std::string& broken : test::queue_claims(list, markers, prefix).broken) {
            fuzz::require(false, broken.c_str());
        }
    }
}
