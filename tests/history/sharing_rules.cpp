#include "rules.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::history {
namespace {

using rule = violation::rule;
using span = std::pair<nanoseconds, nanoseconds>;

/// When the lock was taken or waited for by others than idle places of this worker.
std::vector<span> in_the_way(const evidence& e, const std::string& lock, int worker) {
    std::vector<span> all;
    for (const participant& p : e.queues().at(queue_directory(e.all().laid_out, lock))) {
        const bool own = e.worker_of(p) == worker;
        // An own one is in the way until it is the first, and then only while it is held.
        const auto end = own && p.first ? *p.first : p.gone.value_or(e.all().end);
        all.emplace_back(p.born, end);
    }
    const auto found = e.grants().find(lock);
    if (found != e.grants().end()) {
        for (const turn* t : found->second) {
            const participant* place = e.granted_znode(*t);
            const auto gone = place != nullptr ? place->gone : std::nullopt;
            all.emplace_back(*t->granted, t->ended.value_or(gone.value_or(e.all().end)));
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Nothing is told of a caller's place before its grant, for it may never have one. But when
/// nothing is in its way it is granted.
void check_caller(const evidence& e, const turn& t, const std::vector<span>& taken, verdict& v) {
    const nanoseconds end = t.granted ? *t.granted : t.ended.value_or(e.all().end);
    nanoseconds free_since = t.invoked;
    const auto check_until = [&](nanoseconds until) {
        const nanoseconds idle = e.quiet().time(free_since, std::min(until, end), t.worker);
        if (idle > e.expected().patience) {
            add(v,
                rule::lost_wakeup,
                e.name(t) + " had nothing in its way since " + e.when(free_since) +
                    " and was not granted until " + e.when(std::min(until, end)));
        }
    };
    for (const auto& [from, to] : taken) {
        if (from >= end) {
            break;
        }
        if (from > free_since) {
            check_until(from);
        }
        free_since = std::max(free_since, to);
    }
    if (free_since < end) {
        check_until(end);
    }
}

}  // namespace

void check_sharing(const evidence& e, verdict& v) {
    std::map<std::pair<std::string, int>, std::vector<span>> taken;
    for (const turn& t : e.all().turns) {
        if (!t.asked.shares_place) {
            continue;
        }
        const auto [found, is_new] = taken.try_emplace({t.lock, t.worker});
        if (is_new) {
            found->second = in_the_way(e, t.lock, t.worker);
        }
        check_caller(e, t, found->second, v);
    }
}

}  // namespace latchkey::history
