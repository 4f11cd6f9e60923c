#include "leader/transfer/priority_policy.hpp"

#include <utility>

namespace latchkey::inline v0 {

void priority_policy::note(const std::vector<std::string>& names, time_point now) {
    std::map<std::string, seen> present;
    for (const std::string& name : names) {
        auto mailbox = read_mailbox_name(name);
        if (!mailbox || mailbox->priority == lowest_priority) {
            continue;
        }
        const auto before = peers_.find(name);
        seen& s = present[name];
        s = before != peers_.end() ? before->second : seen{*std::move(mailbox), {}, {}};
        s.since = s.since.value_or(now);
    }
    peers_ = std::move(present);
}

void priority_policy::begin_term() noexcept {
    for (auto& [name, peer] : peers_) {
        peer.since.reset();
    }
}

void priority_policy::note_offer(const mailbox_name& to, time_point now) {
    if (const auto found = peers_.find(to.text()); found != peers_.end()) {
        found->second.offered = now;
    }
}

priority_policy::choice priority_policy::choose(int own, time_point now) const {
    const seen* best = nullptr;
    for (const auto& [name, peer] : peers_) {
        const bool ready = peer.name.priority > own && peer.since && peer.ripe(hysteresis_) <= now;
        if (ready && (best == nullptr || peer.name.priority > best->name.priority ||
                      (peer.name.priority == best->name.priority && *peer.since < *best->since))) {
            best = &peer;
        }
    }
    choice c;
    const int beaten = best != nullptr ? best->name.priority : own;
    for (const auto& [name, peer] : peers_) {
        if (peer.name.priority > beaten && peer.since) {
            const auto ripe = peer.ripe(hysteresis_);
            c.again = std::min(c.again.value_or(ripe), ripe);
        }
    }
    if (best != nullptr && (!c.again || *c.again > best->ripe(hysteresis_) + hysteresis_)) {
        c.best = best->name;
    }
    return c;
}

}  // namespace latchkey::inline v0
