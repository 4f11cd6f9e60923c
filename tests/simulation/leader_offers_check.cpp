#include "leader_offers.hpp"

#include <algorithm>
#include <chrono>

// What is checked after every event.

namespace latchkey::simulation {

using namespace std::chrono_literals;

bool leader_offers::is_ripe(const mailbox& m, const candidacy& leader) const {
    const client_record& by = *leader.by;
    return m.place->there() && m.quiet.lasts(stage_, by) && leader.quiet &&
           leader.quiet->lasts(stage_, by) &&
           stage_.now() > std::max(m.quiet.since(), leader.begun) +
                              by.lasting(leader.preference->hysteresis) + stage_.hops(16) + 200ms;
}

void leader_offers::check_mailboxes() const {
    for (const auto& [path, m] : mailboxes_) {
        if (m.alone && m.place->owner == m.of->by->session &&
            stage_.now() > m.alone->since() + stage_.hops(20) + 1s &&
            m.alone->lasts(stage_, *m.of->by)) {
            stage_.broken("I5", path + " is there, and its candidate is not any more");
        }
    }
}

/// Who is the best is offered it first, whoever else is there. Who is that since somebody better
/// has gone, for whom the leader has waited, has to be found out.
void leader_offers::check_preferred(const candidacy& leader) const {
    const bool ordered = std::any_of(leader.orders.begin(),
                                     leader.orders.end(),
                                     [&](const auto& o) { return o.from == leader.newest; });
    if (leader.offered || ordered || leader.asked_back) {
        return;
    }
    const mailbox* best = nullptr;
    for (const auto& [path, m] : mailboxes_) {
        if (m.directory == leader.directory && m.priority > leader.preference->priority &&
            (best == nullptr || m.priority > best->priority)) {
            best = &m;
        }
    }
    const auto closed = closed_.find(leader.directory);
    const bool settled =
        closed == closed_.end() || stage_.now() > closed->second + stage_.hops(16) + 200ms;
    if (settled && best != nullptr && is_ripe(*best, leader)) {
        stage_.broken("I8", leader.who + " does not offer the leadership to " + best->of->who);
    }
}

/// As if the leader had been asked by its own program: to finish, at once, or to offer the
/// leadership to somebody, if he is there, and when offers of before are over.
void leader_offers::check_petition(const candidacy& leader) const {
    if (!leader.asked || !leader.asked->quiet.lasts(stage_, *leader.by)) {
        return;
    }
    const petition& p = *leader.asked;
    const duration heard = p.quiet.since() + stage_.hops(16) + 200ms;
    if (p.to.empty()) {
        if (stage_.now() > heard) {
            stage_.broken("I8", leader.who + " was asked to hand over, and leads on");
        }
        return;
    }
    const bool busy = std::any_of(leader.orders.begin(), leader.orders.end(), [&](const auto& o) {
        return o.from == leader.newest && (!o.ended || o.to != p.to);
    });
    if (busy || stage_.now() < heard + leader.by->lasting(leader.by->timeout) / 3) {
        return;
    }
    for (const auto& [path, m] : mailboxes_) {
        if (m.directory == leader.directory && m.of->who == p.to && m.of.get() != &leader &&
            m.place->there() && m.quiet.since() < p.quiet.since() - stage_.hops(16) - 200ms &&
            m.quiet.lasts(stage_, *leader.by)) {
            stage_.broken("I8", leader.who + " was asked for, and offers nothing to " + p.to);
        }
    }
}

}  // namespace latchkey::simulation
