#include "rules.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

/// As the servers have it.
void check_taken(const evidence& e, const queue& permits, verdict& v) {
    for (const participant& p : permits) {
        if (p.taken > p.limit) {
            add(v,
                rule::limit,
                p.znode + " came at " + e.when(p.born) + " and brought the permits to " +
                    std::to_string(p.taken) + " of " + std::to_string(p.limit),
                p.born);
        }
    }
}

void check_permits_of(const evidence& e, const turn& t, verdict& v) {
    const auto own = e.granted_znodes(t);
    if (own.empty()) {
        add(v, rule::token, e.name(t) + " holds a znode that nobody created", *t.granted);
        return;
    }
    std::uint32_t permits = 0;
    for (const participant* p : own) {
        permits += p->permits;
        if (believed(t) && p->session != t.session) {
            add(v, rule::token, e.name(t) + " has a znode of another session", *t.granted);
        }
    }
    if (permits != t.asked.permits) {
        add(v,
            rule::torn,
            e.name(t) + " has " + std::to_string(permits) + " permits and not " +
                std::to_string(t.asked.permits),
            *t.granted);
    }
    if (const participant* place = e.waiting_znode(t)) {
        if (t.token != place->born_zxid) {
            add(v, rule::token, e.name(t) + " was " + place->znode, *t.granted);
        }
        if (place->gone_zxid != own.front()->born_zxid) {
            add(v,
                rule::order,
                e.name(t) + " did not leave " + place->znode + " for its permits",
                own.front()->born);
        }
    }
    for (const std::string& znode : t.znodes) {
        const participant* p = e.find(znode);
        if (p != nullptr && p->permits != 0 && p->born_zxid != own.front()->born_zxid) {
            add(v,
                rule::torn,
                e.name(t) + " got " + znode + " at another time than the others",
                *t.granted);
        }
    }
}

/// As the holders have it: of those who were granted before, those who still believed count. All of
/// their permits were there when the last of these was given, under the limit of that moment.
void check_believed(const evidence& e, const std::vector<const turn*>& turns, verdict& v) {
    std::vector<std::pair<const turn*, const participant*>> sorted;
    for (const turn* t : turns) {
        if (const participant* own = e.granted_znode(*t); own != nullptr && believed(*t)) {
            sorted.emplace_back(t, own);
        }
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return *a.first->granted < *b.first->granted;
    });
    std::vector<std::pair<const turn*, const participant*>> present;
    for (const auto& [t, own] : sorted) {
        std::erase_if(present, [at = *t->granted](const auto& other) {
            return std::max(last_belief(*other.first), last_activity(*other.first)) <= at;
        });
        std::uint32_t sum = t->asked.permits;
        const participant* last = own;
        bool others_act = false;
        for (const auto& [other, its] : present) {
            const bool believes = last_belief(*other) > *t->granted;
            sum += believes ? other->asked.permits : 0;
            last = believes && its->born_zxid > last->born_zxid ? its : last;
            others_act = others_act || !believes;
        }
        if (sum > last->limit) {
            add(v,
                rule::limit,
                e.name(*t) + " was granted at " + e.when(*t->granted) + ", and " +
                    std::to_string(sum) + " permits of " + std::to_string(last->limit) +
                    " were believed in",
                *t->granted);
        }
        v.overlaps += others_act ? 1 : 0;
        present.emplace_back(t, own);
    }
}

}  // namespace

void check_permits(const evidence& e, verdict& v) {
    for (const auto& [lock, turns] : e.grants()) {
        for (const turn* t : turns) {
            ++v.grants;
            check_permits_of(e, *t, v);
        }
        check_believed(e, turns, v);
        check_taken(e, e.queues().at(permit_directory(e.all().laid_out, lock)), v);
    }
}

}  // namespace latchkey::history
