#include <latchkey/fencing_token.hpp>

#include "rules.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

void check_belief_of(const evidence& e, const turn& t, verdict& v) {
    const participant* own = nullptr;  // the first that went
    for (const participant* p : e.granted_znodes(t)) {
        own = own == nullptr || p->gone_zxid < own->gone_zxid ? p : own;
    }
    bool was_lost = false;
    for (const observation& o : t.observations) {
        if (o.valid && was_lost) {
            add(v, rule::overlap, e.name(t) + " was lost, and valid again at " + e.when(o.at));
        }
        if (o.valid && o.valid_until < o.at) {
            add(v,
                rule::overlap,
                e.name(t) + " was valid at " + e.when(o.at) + ", after its own deadline of " +
                    e.when(o.valid_until));
        }
        if (o.valid && own != nullptr && own->gone && *own->gone + e.expected().precision < o.at) {
            add(v,
                rule::overlap,
                e.name(t) + " was valid at " + e.when(o.at) + ", and its znode was gone at " +
                    e.when(*own->gone));
        }
        was_lost = was_lost || !o.valid;
    }
}

/// `last` is the one, of all who queued before, that left last.
void check_order_of(
    const evidence& e, const turn& t, const participant& own, const participant& last, verdict& v) {
    const bool in_order = e.expected().direct || last.gone_zxid < own.gone_zxid;
    if (e.in_the_way(last, t) || !in_order) {
        add_behind(e, t, last, v, own.gone.value_or(*t.granted));
    }
}

/// The token of several locks at once is a moment between their creation and that of whoever comes
/// next.
bool token_fits(const evidence& e, const turn& t, const participant& own) {
    if (t.asked.shares_place) {
        return fencing_token::from_value(t.token).zxid == own.born_zxid;
    }
    if (t.asked.locks.size() < 2) {
        return t.token == own.born_zxid;
    }
    const queue& all = e.queues().at(t.lock);
    const auto next = std::upper_bound(
        all.begin(), all.end(), own.born_zxid, [](std::int64_t zxid, const participant& p) {
            return zxid < p.born_zxid;
        });
    return t.token >= own.born_zxid && (next == all.end() || t.token < next->born_zxid);
}

}  // namespace

void add_behind(
    const evidence& e, const turn& t, const participant& ahead, verdict& v, nanoseconds at) {
    add(v,
        rule::order,
        e.name(t) + " was granted at " + e.when(*t.granted) + ", behind " + ahead.znode +
            (ahead.gone ? ", which went at " + e.when(*ahead.gone) : ", which stayed"),
        at);
}

nanoseconds last_belief(const turn& t) {
    nanoseconds last = nanoseconds::min();
    for (const observation& o : t.observations) {
        last = o.valid ? std::max(last, o.at) : last;
    }
    return last;
}

/// The last sign of work under the hold.
nanoseconds last_activity(const turn& t) {
    nanoseconds last = t.ended ? *t.ended : *t.granted;
    for (const observation& o : t.observations) {
        last = std::max(last, o.at);
    }
    for (const effect& f : t.effects) {
        last = std::max(last, f.at);
    }
    return last;
}

void check_tokens(const evidence& e, verdict& v) {
    for (const auto& [lock, turns] : e.grants()) {
        std::vector<const turn*> in_time = turns;
        std::sort(in_time.begin(), in_time.end(), [](const turn* a, const turn* b) {
            return *a->granted < *b->granted;
        });
        const turn* before = nullptr;
        for (const turn* t : in_time) {
            ++v.grants;
            const participant* own = e.granted_znode(*t);
            if (own == nullptr) {
                add(v, rule::token, e.name(*t) + " holds a znode that nobody created");
            } else if (!token_fits(e, *t, *own)) {
                add(v,
                    rule::token,
                    e.name(*t) + " has a znode created as " + std::to_string(own->born_zxid));
            } else if (believed(*t) && own->session != t->session) {
                add(v, rule::token, e.name(*t) + " has a znode of another session");
            }
            if (!believed(*t)) {
                continue;
            }
            if (before != nullptr && t->token <= before->token) {
                add(v, rule::token, e.name(*t) + " came after " + e.name(*before));
            }
            before = t;
        }
    }
}

void check_order(const evidence& e, verdict& v) {
    for (const auto& [lock, all] : e.queues()) {
        const participant* last = nullptr;
        for (const participant& own : all) {
            const turn* t = e.turn_of(own);
            if (last != nullptr && t != nullptr && t->granted && e.waiting_znode(*t) == &own &&
                e.turn_of(*last) != t) {
                check_order_of(e, *t, own, *last, v);
            }
            last = last == nullptr || own.gone_zxid > last->gone_zxid ? &own : last;
        }
    }
}

void check_belief(const evidence& e, verdict& v) {
    for (const turn& t : e.all().turns) {
        check_belief_of(e, t, v);
        v.lost_holds += !t.observations.empty() && !t.observations.back().valid ? 1 : 0;
    }
}

void check_overlaps(const evidence& e, verdict& v) {
    for (const auto& [lock, turns] : e.grants()) {
        // From the last to the first: the next one is the earliest of the later grants.
        const turn* next = nullptr;
        for (auto i = turns.rbegin(); i != turns.rend(); ++i) {
            const turn& t = **i;
            if (next != nullptr && last_belief(t) > *next->granted) {
                add(v,
                    rule::overlap,
                    e.name(t) + " was valid at " + e.when(last_belief(t)) + ", and " +
                        e.name(*next) + " had it since " + e.when(*next->granted));
            } else if (next != nullptr && last_activity(t) > *next->granted) {
                ++v.overlaps;
            }
            if (believed(t) && (next == nullptr || *t.granted < *next->granted)) {
                next = &t;
            }
        }
    }
}

void check_register(const evidence& e, verdict& v) {
    struct state {
        std::int64_t token = 0;
        std::int64_t value = 0;
    };

    std::map<std::string, state> registers;
    std::map<std::pair<int, std::int64_t>, std::size_t> applied;
    for (const access& a : e.all().accesses) {
        state& now = registers[a.lock];
        const std::string who = "token " + std::to_string(a.token) + " of worker " +
                                std::to_string(a.worker) + " at " + e.when(a.at);
        if (a.accepted != (a.token >= now.token)) {
            add(v,
                rule::fence,
                a.lock + ": the register " + (a.accepted ? "took " : "refused ") + who + " after " +
                    std::to_string(now.token));
        }
        v.fenced_off += a.token < now.token ? 1 : 0;
        now.token = std::max(now.token, a.token);
        if (a.accepted && a.written) {
            if (*a.written != now.value + 1) {
                add(v,
                    rule::lost_update,
                    a.lock + ": " + std::to_string(*a.written) + " was written over " +
                        std::to_string(now.value) + " with " + who);
            }
            now.value = *a.written;
            ++v.effects;
            ++applied[{a.worker, a.token}];
        }
    }
    for (const turn& t : e.all().turns) {
        const auto acknowledged = static_cast<std::size_t>(std::count_if(
            t.effects.begin(), t.effects.end(), [](const effect& f) { return f.applied; }));
        const auto found = applied.find({t.worker, t.token});
        if (acknowledged > (found == applied.end() ? 0 : found->second)) {
            add(v, rule::lost_update, e.name(t) + ": the register has lost what it acknowledged");
        }
    }
}

}  // namespace latchkey::history
