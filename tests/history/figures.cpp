#include "rules.hpp"

#include <algorithm>
#include <optional>

namespace latchkey::history {
namespace {

/// The first one granted after `at` of those who were waiting then.
const turn* next_grant(const std::vector<const turn*>& turns, nanoseconds at, const turn* except) {
    const turn* next = nullptr;
    for (const turn* t : turns) {
        if (t != except && t->invoked<at&& * t->granted> at && believed(*t) &&
            (next == nullptr || *t->granted < *next->granted)) {
            next = t;
        }
    }
    return next;
}

/// Nobody was between the two in the queue, and nothing happened to the servers or to the next one.
bool undisturbed(const evidence& e, const turn& killed, nanoseconds at, const turn& next) {
    const participant* before = e.granted_znode(killed);
    const participant* after = e.granted_znode(next);
    return before != nullptr && after != nullptr && after->first == before->gone &&
           e.quiet().time(at, *next.granted, next.worker) == *next.granted - at;
}

void measure_hand_over(const evidence& e, const turn& t, verdict& v) {
    const participant* own = e.waiting_znode(t);
    const auto ready = own == nullptr ? std::nullopt : e.ready_since(*own, &t);
    if (!ready || *ready <= std::max(own->born, t.invoked) || !believed(t)) {
        return;
    }
    if (e.quiet().undisturbed(*ready, *t.granted)) {
        v.hand_over.values.push_back(std::max(nanoseconds(0), *t.granted - *ready));
    }
}

/// `turns` are a lock's.
void measure_takeover(const evidence& e,
                      const disturbance& kill,
                      const std::vector<const turn*>& turns,
                      verdict& v) {
    const auto held = std::find_if(turns.begin(), turns.end(), [&](const turn* t) {
        return t->worker == *kill.worker && believed(*t) && *t->granted <= kill.begin &&
               !t->ended && t->asked.mode == lock_mode::exclusive;
    });
    if (held == turns.end()) {
        return;
    }
    if (const turn* next = next_grant(turns, kill.begin, *held)) {
        v.takeover.values.push_back(*next->granted - kill.begin);
        if (undisturbed(e, **held, kill.begin, *next)) {
            v.takeover_undisturbed.values.push_back(*next->granted - kill.begin);
        }
    }
}

void measure_recovery(const evidence& e, const disturbance& kill, verdict& v) {
    std::optional<nanoseconds> first;
    for (const auto& [lock, turns] : e.grants()) {
        const turn* next = next_grant(turns, kill.begin, nullptr);
        if (next != nullptr && (!first || *next->granted < *first)) {
            first = next->granted;
        }
    }
    if (first) {
        v.recovery.values.push_back(*first - kill.begin);
    }
}

}  // namespace

void measure(const evidence& e, verdict& v) {
    v.calm = e.quiet().time(e.start(), e.all().end, std::nullopt);
    for (const auto& [lock, turns] : e.grants()) {
        for (const turn* t : turns) {
            measure_hand_over(e, *t, v);
        }
    }
    for (const disturbance& d : e.all().disturbances) {
        if (d.worker && d.killed && permit_directory(e.all().laid_out, "").empty()) {
            for (const auto& [lock, turns] : e.grants()) {
                measure_takeover(e, d, turns, v);
            }
        } else if (!d.worker && d.killed) {
            measure_recovery(e, d, v);
        }
    }
}

}  // namespace latchkey::history
