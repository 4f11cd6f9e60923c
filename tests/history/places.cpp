#include "participants.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace latchkey::history {
namespace {

using candidate = std::pair<int, std::string>;  ///< a worker's, on a path

/// One turn after the other, in time.
using turns_of_candidates = std::map<candidate, std::vector<turn*>>;

turns_of_candidates by_candidate(std::vector<turn>& turns) {
    turns_of_candidates all;
    for (turn& t : turns) {
        all[{t.worker, t.lock}].push_back(&t);
    }
    for (auto& [who, own] : all) {
        std::sort(own.begin(), own.end(), [](const turn* x, const turn* y) {
            return x->invoked < y->invoked;
        });
    }
    return all;
}

/// The last one that had begun.
turn* turn_at(const std::vector<turn*>& turns, nanoseconds at) {
    const auto next =
        std::upper_bound(turns.begin(), turns.end(), at, [](nanoseconds time, const turn* t) {
            return time < t->invoked;
        });
    return next == turns.begin() ? nullptr : *std::prev(next);
}

/// Places are told in the order of their creation. That of the grant is known, and is the last.
class place_keeper {
public:
    void add(turn& t, const std::string& znode) {
        if (settled_.contains(&t)) {
            t.others.push_back(znode);
        } else if (t.granted && t.znodes.back() == znode) {
            settled_.insert(&t);
        } else {
            t.znodes.insert(t.granted ? std::prev(t.znodes.end()) : t.znodes.end(), znode);
        }
    }

private:
    std::set<const turn*> settled_;
};

}  // namespace

history with_places(history h, const bounds& b) {
    const auto queues = queues_of(h);
    const auto candidates = by_candidate(h.turns);
    for (const auto& [who, turns] : candidates) {
        const auto each_own = [&, &who = who, &turns = turns](const std::string& directory,
                                                              const auto& add) {
            for (const participant& p : queues.at(directory)) {
                const auto session = h.sessions.find(p.session);
                if (session != h.sessions.end() && session->second == who.first) {
                    if (turn* t = turn_at(turns, p.born + b.precision)) {
                        add(*t, p.znode);
                    }
                }
            }
        };
        place_keeper places;
        each_own(queue_directory(h.laid_out, who.second),
                 [&](turn& t, const std::string& znode) { places.add(t, znode); });
        each_own(mailbox_directory(h.laid_out, who.second),
                 [](turn& t, const std::string& znode) { t.others.push_back(znode); });
    }
    for (turn& t : h.turns) {
        t.asked.silent = false;
    }
    return h;
}

}  // namespace latchkey::history
