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
nanoseconds waited_until(const evidence& e, const participant& p, const turn* t) {
    const bool granted = t != nullptr && t->granted && e.waiting_znode(*t) == &p;
    // The first of a semaphore's leaves the queue when its permits are there, and is granted then.
    nanoseconds end =
        granted && e.granted_znode(*t) != &p ? *t->granted : p.gone.value_or(e.all().end);
    if (t != nullptr) {
        end = granted ? std::min(end, *t->granted) : end;
        end = std::min(end, t->ended.value_or(end));
    }
    return end;
}

void check_wait(const evidence& e, const participant& p, const turn* t, verdict& v) {
    const auto since = e.ready_since(p, t);
    if (!since) {
        return;
    }
    const nanoseconds waited = e.quiet().time(*since, waited_until(e, p, t), e.worker_of(p));
    if (waited > e.expected().patience) {
        v.violations.push_back({rule::lost_wakeup,
                                p.znode + " had nobody in its way since " + e.when(*since) +
                                    " and was not granted for " + seconds(waited) +
                                    ", undisturbed" + (t == nullptr ? "" : "; " + e.name(*t))});
    }
}

/// A turn waits in the queue, or is about to.
void check_place(const evidence& e, const turn& t, verdict& v) {
    if (t.asked.silent) {
        return;
    }
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
            without_since = std::max(without_since, p->gone.value_or(e.all().end));
        }
    }
    check_until(t.granted ? *t.granted : t.ended.value_or(e.all().end));
}

/// One that is kept may stay until another participant comes.
std::optional<nanoseconds> needed_until(const evidence& e, const participant& p, const turn* t) {
    const auto left = e.left(p);
    if (t == nullptr || !t->asked.shares_place || !left) {
        return left;
    }
    const queue& all = e.queues().at(directory_of(p.znode));
    const auto next = std::find_if(all.begin(), all.end(), [&](const participant& other) {
        return other.born_zxid > p.born_zxid;
    });
    return next == all.end() ? std::nullopt : std::optional(std::max(*left, next->born));
}

void check_stay(const evidence& e, const participant& p, verdict& v) {
    if (p.session == 0) {
        return;  // an operator's
    }
    const turn* t = e.turn_of(p);
    const auto worker = e.worker_of(p);
    const nanoseconds gone = p.gone.value_or(e.all().end);
    const auto complain = [&](const std::string& why) {
        v.violations.push_back({rule::orphan,
                                p.znode + ", created at " + e.when(p.born) + ", " + why +
                                    (t == nullptr ? "" : "; " + e.name(*t)),
                                gone});
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
    if (const auto left = needed_until(e, p, t)) {
        const nanoseconds stayed = e.quiet().time(*left, gone, worker);
        if (stayed > e.expected().patience) {
            complain("stayed for " + seconds(stayed) + " after it was left, undisturbed");
        }
    }
}

}  // namespace

void check_waiting(const evidence& e, verdict& v) {
    for (const auto& [directory, all] : e.queues()) {
        for (const participant& p : all) {
            if (e.turn_of(p) == nullptr && p.permits == 0) {
                check_wait(e, p, nullptr, v);
            }
        }
    }
    for (const turn& t : e.all().turns) {
        for (const auto* own : {&t.znodes, &t.others}) {
            for (const std::string& znode : *own) {
                const participant* p = e.find(znode);
                // Others that share it have not waited for it in the queue.
                if (p != nullptr && p->permits == 0 &&
                    (!t.asked.shares_place || e.turn_of(*p) == &t)) {
                    check_wait(e, *p, &t, v);
                }
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
