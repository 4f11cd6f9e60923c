#include "group_judge.hpp"

#include <algorithm>

// What is so soon after it was asked for, or has become so on the servers.

namespace latchkey::simulation {

bool group_judge::goes_on() {
    if (!until_) {
        until_ = stage_.now() + stage_.what.session_timeout;
    }
    return stage_.now() < *until_;
}

void group_judge::check_together() {
    if (!timely_.looks()) {
        return;
    }
    for (const auto& e : enrolments_) {
        check_joined(*e);
    }
    for (const auto& w : watchings_) {
        check_told(*w);
    }
}

void group_judge::check_joined(const enrolment& e) {
    const duration then = stage_.now() - timely_.soon();
    if (e.over || !e.handle || !timely_.unhindered(*e.by, then) || e.told > then ||
        groups_.changed(e.path) > then) {
        return;
    }
    ++stage_.counts.timely;
    if (!is_settled(e)) {
        stage_.broken("I2", e.who + " is a member, and not there as it should be for a while");
    }
}

void group_judge::check_told(const watching& w) {
    const duration then = stage_.now() - timely_.soon() - w.pause;
    if (w.over || w.begun > then || !timely_.watches_unhindered(*w.by, then)) {
        return;
    }
    ++stage_.counts.timely;
    const auto late = [&](const std::string& what) { stage_.broken("I8", w.who + what); };
    if (!w.told) {
        return late(" watches for a while, and was told nothing");
    }
    for (const group_member& m : w.newest) {
        if (!groups_.was_so_since(w.directory, m, then)) {
            return late(" was not told for a while that " + m.name + " is another, or has gone");
        }
    }
    for (const group_member& m : groups_.now(w.directory)) {
        const bool told =
            std::any_of(w.newest.begin(), w.newest.end(), [&](const group_member& known) {
                return known.name == m.name && known.czxid == m.czxid;
            });
        if (!told && groups_.came(w.directory, m) <= then) {
            return late(" was not told for a while that " + m.name + " has come");
        }
    }
}

}  // namespace latchkey::simulation
