#include "history.hpp"

#include "rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace latchkey::history {

nanoseconds sample::quantile(double share) const {
    std::vector<nanoseconds> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted.at(static_cast<std::size_t>(std::max(rank, 1.0)) - 1);
}

const char* to_string(violation::rule r) noexcept {
    constexpr std::array names{"token",
                               "order",
                               "overlap",
                               "fence",
                               "lost update",
                               "orphan",
                               "lost wake-up",
                               "failure",
                               "limit",
                               "torn",
                               "passed",
                               "changed",
                               "round",
                               "farewell",
                               "told",
                               "guard",
                               "untold",
                               "observed"};
    static_assert(names.size() == std::size_t(violation::rule::observed) + 1);
    return names.at(std::size_t(r));
}

std::size_t verdict::count(violation::rule r) const {
    return static_cast<std::size_t>(std::count_if(
        violations.begin(), violations.end(), [r](const violation& v) { return v.which == r; }));
}

evidence::evidence(const history& h, const bounds& b)
    : history_(h), bounds_(b), calm_(h, b), queues_(queues_of(h)) {
    for (const auto& [lock, all] : queues_) {
        for (const participant& p : all) {
            by_znode_[p.znode] = &p;
        }
    }
    start_ = nanoseconds::max();
    for (const turn& t : h.turns) {
        start_ = std::min(start_, t.invoked);
        attempts_[{t.worker, t.attempt}] = &t;
        if (t.granted) {
            grants_[t.lock].push_back(&t);
        }
        for (const auto* own : {&t.znodes, &t.others}) {
            for (const std::string& znode : *own) {
                add_turn(znode, t);
            }
        }
    }
    for (auto& [lock, turns] : grants_) {
        std::sort(turns.begin(), turns.end(), [](const turn* x, const turn* y) {
            return x->token < y->token;
        });
    }
    for (const disturbance& d : h.disturbances) {
        if (d.killed && d.worker) {
            deaths_[*d.worker] = &d;
        }
    }
}

void evidence::add_turn(const std::string& znode, const turn& t) {
    const turn*& present = turns_[znode];
    if (!t.asked.shares_place) {
        present = &t;
        return;
    }
    sharing_[znode].push_back(&t);
    const bool is_earlier =
        present != nullptr && present->granted && (!t.granted || *present->granted <= *t.granted);
    present = is_earlier ? present : &t;
}

std::optional<nanoseconds> evidence::left(const participant& p) const {
    const auto found = sharing_.find(p.znode);
    if (found == sharing_.end()) {
        const turn* t = turn_of(p);
        return t == nullptr ? std::nullopt : t->ended;
    }
    std::optional<nanoseconds> last = nanoseconds(0);
    for (const turn* t : found->second) {
        last = last && t->ended ? std::optional(std::max(*last, *t->ended)) : std::nullopt;
    }
    return last;
}

bool evidence::in_the_way(const participant& ahead, const turn& t) const {
    const turn* its = bounds_.direct ? turn_of(ahead) : nullptr;
    const auto told = its != nullptr && its->granted ? left(ahead) : std::nullopt;
    const auto since = told && (!ahead.gone || *told < *ahead.gone) ? told : ahead.gone;
    return !since || *since > *t.granted + bounds_.precision;
}

const participant* evidence::find(const std::string& znode) const {
    const auto found = by_znode_.find(znode);
    return found == by_znode_.end() ? nullptr : found->second;
}

const participant* evidence::granted_znode(const turn& t) const {
    return t.granted && !t.znodes.empty() ? find(t.znodes.back()) : nullptr;
}

const turn* evidence::turn_of(const participant& p) const {
    const auto found = turns_.find(p.znode);
    return found == turns_.end() ? nullptr : found->second;
}

std::optional<int> evidence::worker_of(const participant& p) const {
    if (const turn* t = turn_of(p)) {
        return t->worker;
    }
    const auto found = history_.sessions.find(p.session);
    return found == history_.sessions.end() ? std::nullopt : std::optional(found->second);
}

const participant* evidence::waiting_znode(const turn& t) const {
    const std::string directory = queue_directory(history_.laid_out, t.lock);
    const auto last = std::find_if(t.znodes.rbegin(), t.znodes.rend(), [&](const std::string& z) {
        return directory_of(z) == directory;
    });
    return last == t.znodes.rend() ? nullptr : find(*last);
}

std::vector<const participant*> evidence::granted_znodes(const turn& t) const {
    std::vector<const participant*> all;
    const participant* last = granted_znode(t);
    for (const std::string& znode : t.znodes) {
        const participant* p = find(znode);
        if (p != nullptr && last != nullptr && p->born_zxid == last->born_zxid) {
            all.push_back(p);
        }
    }
    return all;
}

std::optional<nanoseconds> evidence::ready_since(const participant& p, const turn* t) const {
    const bool beside_readers = t == nullptr ? p.reader : t->asked.mode != lock_mode::exclusive;
    const auto since = beside_readers ? p.first_but_readers : p.first;
    return since && t != nullptr ? std::max(*since, t->invoked) : since;
}

const turn* evidence::converted(const turn& t) const {
    const auto found =
        t.asked.converts ? attempts_.find({t.worker, *t.asked.converts}) : attempts_.end();
    return found == attempts_.end() ? nullptr : found->second;
}

const disturbance* evidence::death_of(int worker) const {
    const auto found = deaths_.find(worker);
    return found == deaths_.end() ? nullptr : found->second;
}

std::string evidence::when(nanoseconds at) const {
    char text[48];
    std::snprintf(text, sizeof text, "%.4f s", static_cast<double>((at - start_).count()) / 1e9);
    return text;
}

std::string evidence::name(const turn& t) const {
    return "worker " + std::to_string(t.worker) + "'s turn " + std::to_string(t.attempt) + " on " +
           t.lock + (t.granted ? " (token " + std::to_string(t.token) + ")" : "");
}

bool believed(const turn& granted) {
    return !granted.observations.empty() && granted.observations.front().valid;
}

namespace {

verdict judge(const history& h, const bounds& b) {
    const evidence e(h, b);
    verdict v;
    v.turns = h.turns.size();
    if (h.laid_out == layout::barrier) {
        check_barriers(e, v);
        return v;
    }
    if (h.laid_out == layout::rounds) {
        check_rounds(e, v);
        check_orphans(e, v);
        v.calm = e.quiet().time(e.start(), h.end, std::nullopt);
        return v;
    }
    switch (h.laid_out) {
        case layout::one_at_a_time:
            check_tokens(e, v);
            check_order(e, v);
            check_overlaps(e, v);
            check_together(e, v);
            break;
        case layout::readers_writer:
            check_modes(e, v);
            break;
        case layout::semaphore:
        case layout::curator_semaphore:
            check_order(e, v);
            check_permits(e, v);
            break;
        case layout::election:
            check_terms(e, v);
            check_overlaps(e, v);
            check_guards(e, v);
            break;
        case layout::barrier:
        case layout::rounds:
            break;
    }
    check_belief(e, v);
    check_register(e, v);
    check_waiting(e, v);
    check_sharing(e, v);
    check_orphans(e, v);
    check_observers(e, v);
    measure(e, v);
    return v;
}

}  // namespace

verdict check(const history& h, const bounds& b) {
    return h.laid_out == layout::election ? judge(with_places(h, b), b) : judge(h, b);
}

}  // namespace latchkey::history
