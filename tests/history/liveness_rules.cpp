#include "rules.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::history {
namespace {

using rule = violation::rule;

std::string seconds(nanoseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f s", static_cast<double>(time.count()) / 1e9);
    return text;
}

/// When this znode was no longer waiting, whatever the reason.
nanoseconds waited_until(const evidence& e, const participant& p) {
    nanoseconds end = p.gone.value_or(e.all().end);
    if (const turn* t = e.turn_of(p)) {
        if (t->granted && t->znodes.back() == p.znode) {
            end = std::min(end, *t->granted);
        }
        end = std::min(end, t->ended.value_or(end));
    }
    return end;
}

/// A turn waits in the queue, or is about to.
void check_place(const evidence& e, const turn& t, verdict& v) {
    nanoseconds without_since = t.invoked;
    const auto check_until = [&](nanoseconds until) {
        const nanoseconds idle = e.quiet().time(without_since, until, t.worker);
        if (idle > e.expected().patience) {
            v.violations.push_back({rule::lost_wakeup,
                                    e.name(t) + " had no znode for " + seconds(idle) + " from " +
                                        e.when(without_since) + ", undisturbed"});
        }
    };
    for (const std::string& znode : t.znodes) {
        const participant* p = e.find(znode);
        if (p != nullptr) {
            check_until(p->born);
            without_since = p->gone.value_or(e.all().end);
        }
    }
    check_until(t.granted ? *t.granted : t.ended.value_or(e.all().end));
}

void check_stay(const evidence& e, const participant& p, verdict& v) {
    const turn* t = e.turn_of(p);
    const auto worker = e.worker_of(p);
    const nanoseconds gone = p.gone.value_or(e.all().end);
    const auto complain = [&](const std::string& why) {
        v.violations.push_back({rule::orphan,
                                p.znode + ", created at " + e.when(p.born) + ", " + why +
                                    (t == nullptr ? "" : "; " + e.name(*t))});
    };
    if (!p.gone) {
        complain("is still there at the end");
        return;
    }
    if (const disturbance* death = worker ? e.death_of(*worker) : nullptr) {
        const nanoseconds limit =
            e.expected().session_timeout + 2 * e.expected().tick + e.expected().patience;
        const nanoseconds stayed = e.quiet().time(death->begin, gone, std::nullopt);
        if (stayed > limit) {
            complain("outlived its process by " + seconds(stayed));
        }
        return;
    }
    if (t != nullptr && t->ended) {
        const nanoseconds stayed = e.quiet().time(*t->ended, gone, worker);
        if (stayed > e.expected().patience) {
            complain("stayed for " + seconds(stayed) + " after it was left, undisturbed");
        }
    }
}

}  // namespace

void check_waiting(const evidence& e, verdict& v) {
    for (const auto& [lock, all] : e.queues()) {
        for (const participant& p : all) {
            if (!p.first) {
                continue;
            }
            const nanoseconds end = waited_until(e, p);
            const nanoseconds waited = e.quiet().time(*p.first, end, e.worker_of(p));
            if (waited > e.expected().patience) {
                const turn* t = e.turn_of(p);
                v.violations.push_back({rule::lost_wakeup,
                                        p.znode + " was first since " + e.when(*p.first) +
                                            " and not granted for " + seconds(waited) +
                                            ", undisturbed" +
                                            (t == nullptr ? "" : "; " + e.name(*t))});
            }
        }
    }
    for (const turn& t : e.all().turns) {
        check_place(e, t, v);
        if (!t.failure.empty()) {
            v.violations.push_back({rule::failure, e.name(t) + ": " + t.failure});
        }
    }
}

void check_orphans(const evidence& e, verdict& v) {
    for (const auto& [lock, all] : e.queues()) {
        for (const participant& p : all) {
            check_stay(e, p, v);
        }
    }
}

}  // namespace latchkey::history
