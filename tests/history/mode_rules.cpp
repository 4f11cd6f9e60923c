#include "rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

bool exclude(lock_mode one, lock_mode other) {
    return one == lock_mode::exclusive || other == lock_mode::exclusive ||
           (one == lock_mode::upgrade && other == lock_mode::upgrade);
}

std::vector<const turn*> in_time(const std::vector<const turn*>& turns) {
    std::vector<const turn*> sorted = turns;
    std::sort(sorted.begin(), sorted.end(), [](const turn* a, const turn* b) {
        return *a->granted < *b->granted;
    });
    return sorted;
}

/// A hold keeps its token whatever becomes of its mode; one that was shared is another one then.
void check_token_of(const evidence& e, const turn& t, verdict& v) {
    const participant* own = e.granted_znode(t);
    const turn* before = e.converted(t);
    if (own == nullptr) {
        add(v, rule::token, e.name(t) + " holds a znode that nobody created");
        return;
    }
    const bool kept = before != nullptr &&
                      (before->asked.mode != lock_mode::shared || e.granted_znode(*before) == own);
    const std::int64_t expected = kept ? before->token : own->born_zxid;
    if (t.token != expected) {
        add(v, rule::token, e.name(t) + " should have " + std::to_string(expected));
    } else if (believed(t) && own->session != t.session) {
        add(v, rule::token, e.name(t) + " has a znode of another session");
    }
}

/// The znode that left last, of all that are ahead of some place.
struct last_ahead {
    const participant* reader = nullptr;
    const participant* other = nullptr;

    void add(const participant& p) {
        const participant*& last = p.reader ? reader : other;
        last = last == nullptr || p.gone_zxid > last->gone_zxid ? &p : last;
    }
};

void check_ahead(const evidence& e, const turn& t, const participant* last, verdict& v) {
    if (last != nullptr && e.in_the_way(*last, t)) {
        add_behind(e, t, *last, v);
    }
}

/// By place, because a reader that was a writer keeps it.
void check_order_in(const evidence& e, const queue& all, verdict& v) {
    std::multimap<std::uint64_t, const participant*> by_place;
    for (const participant& p : all) {
        by_place.emplace(p.place, &p);
    }
    std::map<const participant*, std::vector<const turn*>> holders;
    for (const turn& t : e.all().turns) {
        if (const participant* own = e.granted_znode(t)) {
            holders[own].push_back(&t);
        }
    }
    last_ahead ahead;
    for (auto i = by_place.begin(); i != by_place.end();) {
        const auto next = by_place.upper_bound(i->first);
        for (auto own = i; own != next; ++own) {
            for (const turn* t : holders[own->second]) {
                check_ahead(e, *t, ahead.other, v);
                if (t->asked.mode == lock_mode::exclusive) {
                    check_ahead(e, *t, ahead.reader, v);
                }
            }
        }
        for (; i != next; ++i) {
            ahead.add(*i->second);
        }
    }
}

/// A later grant, while the holder of an earlier hold that it excludes still believes in it.
void check_overlaps_of(const evidence& e, const std::vector<const turn*>& sorted, verdict& v) {
    std::array<const turn*, 3> believing{};  // longest, by mode
    std::array<const turn*, 3> active{};
    for (const turn* t : sorted) {
        bool explained = false;
        for (std::size_t i = 0; i < believing.size(); ++i) {
            if (!believed(*t) || !exclude(t->asked.mode, lock_mode{static_cast<std::uint8_t>(i)})) {
                continue;
            }
            const turn* other = believing.at(i);
            if (other != nullptr && last_belief(*other) > *t->granted) {
                add(v,
                    rule::overlap,
                    e.name(*other) + " was valid at " + e.when(last_belief(*other)) + ", and " +
                        e.name(*t) + " had it since " + e.when(*t->granted));
            }
            explained = explained ||
                        (active.at(i) != nullptr && last_activity(*active.at(i)) > *t->granted);
        }
        v.overlaps += explained ? 1 : 0;
        const auto mode = static_cast<std::size_t>(t->asked.mode);
        const turn*& longest = believing.at(mode);
        longest = longest == nullptr || last_belief(*t) > last_belief(*longest) ? t : longest;
        const turn*& busiest = active.at(mode);
        busiest = busiest == nullptr || last_activity(*t) > last_activity(*busiest) ? t : busiest;
    }
}

}  // namespace

void check_modes(const evidence& e, verdict& v) {
    for (const auto& [lock, turns] : e.grants()) {
        const auto sorted = in_time(turns);
        const turn* before = nullptr;
        for (const turn* t : sorted) {
            ++v.grants;
            check_token_of(e, *t, v);
            if (t->asked.mode != lock_mode::exclusive || !believed(*t)) {
                continue;
            }
            // The same one again is the same hold, which was an upgrader's meanwhile.
            if (before != nullptr && t->token < before->token) {
                add(v, rule::token, e.name(*t) + " came after " + e.name(*before));
            }
            before = t;
        }
        check_overlaps_of(e, sorted, v);
    }
    for (const auto& [lock, all] : e.queues()) {
        check_order_in(e, all, v);
    }
}

}  // namespace latchkey::history
