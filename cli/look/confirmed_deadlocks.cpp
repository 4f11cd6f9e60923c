#include "look/confirmed_deadlocks.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace latchkey::cli {

std::vector<deadlock> confirmed_deadlocks(const client& zk,
                                          const std::vector<queue_view>& contended) {
    const auto suspected = find_deadlocks(contended);
    std::set<std::string> paths;
    for (const deadlock& d : suspected) {
        for (const auto* const waits : {&d.cycle, &d.others}) {
            for (const lock_wait& w : *waits) {
                paths.insert(w.path);
            }
        }
    }
    std::vector<queue_view> again;
    for (const std::string& path : paths) {
        again.push_back(inspect(zk, path));
    }
    auto now = find_deadlocks(again);
    std::erase_if(now, [&](const deadlock& d) {
        return std::none_of(suspected.begin(), suspected.end(), [&](const deadlock& before) {
            return before.is_same(d);
        });
    });
    return now;
}

}  // namespace latchkey::cli
