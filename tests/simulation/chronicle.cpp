#include "chronicle.hpp"

#include <algorithm>
#include <chrono>

namespace latchkey::simulation {

using namespace std::chrono_literals;

duration chronicle::moment() {
    return last_ = std::max(stage_.now(), last_ + 1ns);
}

void chronicle::received(const model::packet& p) {
    if (p.what == model::packet::kind::request && p.body.what == request::kind::create) {
        asked_.emplace(p.body.path, p.asked.time_since_epoch() - stage_.begun);
    }
}

void chronicle::committed(const model::transaction& t) {
    using enum model::change::kind;
    using history::znode_change;
    history::transaction entry{.zxid = t.zxid,
                               .session = t.session,
                               .wall_ns = moment().count(),
                               .closes_session = t.what == model::transaction::kind::close_session};
    for (const model::change& c : t.changes) {
        if (c.what == create) {
            entry.changes.push_back({.path = c.path,
                                     .ephemeral = c.owner != 0 && c.owner != model::container_owner,
                                     .data = c.data});
            note_place(c);
        } else if (c.what == remove && !entry.closes_session) {  // those of a session go with it
            entry.changes.push_back({.what = znode_change::kind::removed, .path = c.path});
        } else if (c.what == set_data) {
            entry.changes.push_back(
                {.what = znode_change::kind::changed, .path = c.path, .data = c.data});
        }
    }
    told_.transactions.push_back(std::move(entry));
}

/// It is the place of the last call that had begun when it was asked for: it may be created late.
void chronicle::note_place(const model::change& created) {
    const auto asked = asked_.find(created.path);
    const auto turns = turns_.find(created.data);
    if (asked == asked_.end() || turns == turns_.end()) {
        return;
    }
    const auto own = std::find_if(turns->second.rbegin(), turns->second.rend(), [&](const auto& t) {
        return t.first <= asked->second;
    });
    if (own != turns->second.rend()) {
        turn(own->second).znodes.push_back(created.path);
    }
}

std::size_t chronicle::begins(int client, history::wish what, const std::string& data) {
    const std::size_t number = told_.turns.size();
    history::turn& t = told_.turns.emplace_back();
    t.worker = client;
    t.attempt = static_cast<std::int64_t>(number);
    t.lock = what.locks.front();
    t.asked = std::move(what);
    t.invoked = moment();
    if (!data.empty()) {
        turns_[data].emplace_back(stage_.now(), number);
    }
    return number;
}

history::verdict chronicle::judged(bool quiet) {
    told_.end = moment();
    if (!quiet) {
        told_.disturbances.push_back({"faults", {}, told_.end, {}});
    }
    // What is late, the judge sees by itself.
    return check(
        told_, {.session_timeout = stage_.what.session_timeout, .patience = 24h, .precision = 0ms});
}

}  // namespace latchkey::simulation
