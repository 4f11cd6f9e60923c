#include "group_judge.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

/// A delete names nobody: one that was sent before the name went to somebody else may hit him. Who
/// looks whose it is, and deletes what is his, may be misled by what happens between; the servers
/// or the network may have kept the delete for longer, or the news of who has gone, and who sends
/// it may not know yet what the operator did.
bool group_judge::may_be_misled(const model::transaction& t, const participants& changed) const {
    const client_record* const by = client_of(t.session);
    for (const auto& p : changed) {
        for (const auto& [place, before] : truth_.history_of(p->directory)) {
            if (before->path == p->path && !before->there() && client_of(before->owner) == by &&
                before->ended >= stage_.now() - stage_.hops(8)) {
                return true;
            }
        }
    }

    constexpr std::array causes{fault::moved,
                                fault::black_hole,
                                fault::answers_late,
                                fault::requests_late,
                                fault::znode_deleted,
                                fault::directory_deleted,
                                fault::server_stopped,
                                fault::server_paused,
                                fault::follower_isolated,
                                fault::leader_isolated,
                                fault::server_late};
    return std::any_of(causes.begin(), causes.end(), [&](fault f) {
        return stage_.counts.faults[index_of(f)] > 0;
    });
}

void group_judge::applied(const model::transaction& t, const participants& changed) {
    const bool robs = std::any_of(changed.begin(), changed.end(), [](const auto& p) {
        return p->how == participant::ending::robbed;
    });
    if (robs && !may_be_misled(t, changed)) {
        check_robbed(t, changed);
    }
    groups_.applied(t, stage_.now());
    timely_.applied(t);
    for (const auto& p : changed) {
        for (const auto& e : enrolments_) {
            if (p->there() && p->path == e->path && !e->over) {
                e->owners_before.insert(p->owner);
            }
        }
        if (p->how == participant::ending::released) {
            check_kept(*p);
        }
    }
}

// ---- members ----

void group_judge::joins(const std::shared_ptr<enrolment>& e) {
    for (const auto& [place, p] : truth_.queue_of(e->directory)) {
        if (p->path == e->path) {
            e->owners_before.insert(p->owner);
        }
    }
    e->before = groups_.of(e->path);
    enrolments_.push_back(e);
}

void group_judge::joined(call& c, enrolment& e, std::error_code ec, membership m) {
    e.handle = std::move(m);
    e.told = stage_.now();
    if (!e.handle) {
        ends(e);
    }
    if (!meeting_judge::ends(c, ec, static_cast<bool>(e.handle))) {
        return;
    }
    if (!e.handle) {
        return ec ? void() : check_refused(c, e);
    }
    ++stage_.counts.grants;
    const auto& all = truth_.history_of(e.directory);
    const bool was_there = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
        const participant& p = *entry.second;
        return p.path == e.path && e.by->sessions.contains(p.owner) &&
               (p.there() || p.ended >= c.begun);
    });
    if (!was_there) {
        stage_.broken("I1", e.who + " is a member, and its znode was never there");
    }
}

/// It was told so in time, or wanted a free name only.
void group_judge::check_refused(const call& c, const enrolment& e) {
    const bool taken = std::any_of(e.owners_before.begin(), e.owners_before.end(), [&](auto owner) {
        return owner != c.by->session;
    });
    if (c.tries() && !c.stopped && !taken) {
        stage_.broken("I9", c.who + " did not get a name that was free");
    }
}

/// Whether what somebody has left, or given up, may have to be deleted yet: he was disturbed then,
/// or since; or he gave up what was on its way, not long ago.
bool group_judge::may_be_left(const enrolment& e) const {
    return e.troubled || e.by->connections > e.connections ||
           stage_.disturbances > e.disturbances ||
           (!e.present && stage_.now() <= e.ended + stage_.what.session_timeout);
}

/// A session deletes the znode of a member only when that leaves.
void group_judge::check_kept(const participant& p) {
    const client_record* const by = client_of(p.owner);
    for (const auto& e : enrolments_) {
        if (e->over && e->path == p.path && e->by.get() == by && may_be_left(*e)) {
            return;
        }
        if (e->path == p.path && !e->over && e->handle && !e->by->closed &&
            e->by->session == p.owner) {
            stage_.broken("I1", e->who + " is a member, and its own session deleted " + p.path);
        }
    }
}

void group_judge::ends(enrolment& e) {
    e.over = true;
    e.ended = stage_.now();
    const auto p = truth_.find(e.path);
    e.present = e.handle.present() && p != nullptr && p->there() && p->owner == e.by->session;
    e.troubled = stage_.troubles > 0 || e.by->suspended;
    e.connections = e.by->connections;
    e.disturbances = stage_.disturbances;
}

void group_judge::leaves(enrolment& e) {
    stage_.tell(e.who, " leaves ", e.path);
    ends(e);
    e.handle.leave();
    if (e.handle.present()) {
        stage_.broken("I2", e.who + " has left and is present");
    }
}

// ---- those who watch ----

void group_judge::begins(const std::shared_ptr<watching>& w) {
    stage_.tell(w->who, " watches ", w->directory);
    w->begun = stage_.now();
    w->there_before = truth_.queue_of(w->directory).size();
    w->before = groups_.in(w->directory);
    watchings_.push_back(w);
}

void group_judge::ends(watching& w) {
    stage_.tell(w.who, " watches no more");
    w.over = true;
    w.listening = {};
}

void group_judge::told(watching& w, const std::vector<group_member>& all) {
    ++stage_.counts.lists;
    stage_.mark(all.size());
    stage_.tell(w.who, " is told of ", all.size(), " members");
    if (w.over || w.by->ended) {
        return stage_.broken("I9", w.who + " is told of members and does not watch");
    }
    if (std::exchange(w.told, true) && w.newest == all) {
        return stage_.broken("I9", w.who + " is told twice of the same members");
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i - 1].name >= all[i].name) {
            return stage_.broken("I9", w.who + " is told of " + all[i].name + " out of order");
        }
    }
    for (const group_member& m : all) {
        if (!groups_.was_there(w.directory, m)) {
            return stage_.broken("I9", w.who + " is told of " + m.name + ", which never was there");
        }
        for (const group_member& before : w.newest) {
            if (m.name == before.name &&
                std::pair(m.czxid, m.version) < std::pair(before.czxid, before.version)) {
                return stage_.broken("I9", w.who + " is told of an earlier " + m.name);
            }
        }
    }
    w.newest = all;
}

bool group_judge::may_watch(const std::string& path, std::int64_t session) const {
    const client_record* const by = client_of(session);
    return std::any_of(watchings_.begin(), watchings_.end(), [&](const auto& w) {
        return w->by.get() == by && w->directory == path;
    });
}

// ---- the end ----

bool group_judge::is_settled(const enrolment& e) const {
    if (e.over || !e.handle || e.by->closed || e.by->crashed) {
        return true;
    }
    for (const group_member& m : groups_.now(e.directory)) {
        if (e.directory + '/' + m.name == e.path) {
            // Somebody else may have got the name while its session was lost.
            return m.session_id == e.by->session ? e.handle.present() && m.data == e.data
                                                 : !e.handle.present();
        }
    }
    return false;
}

bool group_judge::knows(const watching& w) const {
    return w.over || w.by->closed || w.by->crashed ||
           (w.told && w.newest == groups_.now(w.directory));
}

std::string group_judge::picture() const {
    std::string all = judge::picture();
    for (const auto& e : enrolments_) {
        if (!is_settled(*e)) {
            all += "\n    " + e->who + " is not settled, with " + e->data;
        }
    }
    for (const auto& w : watchings_) {
        if (!knows(*w)) {
            all += "\n    " + w->who + " was told of";
            for (const group_member& m : w->newest) {
                all += ' ' + m.name + ' ' + std::to_string(m.version) + " \"" + m.data + '"';
            }
        }
    }
    return all;
}

bool group_judge::is_known(const participant& p) const {
    return p.foreign() || std::any_of(enrolments_.begin(), enrolments_.end(), [&](const auto& e) {
               return e->path == p.path && !e->over && e->by->session == p.owner;
           });
}

bool group_judge::agreed() const {
    const bool told =
        std::all_of(watchings_.begin(), watchings_.end(), [&](const auto& w) { return knows(*w); });
    const bool there = std::all_of(
        enrolments_.begin(), enrolments_.end(), [&](const auto& e) { return is_settled(*e); });
    return told && there &&
           std::all_of(queues_watched_.begin(), queues_watched_.end(), [&](const auto& directory) {
               const auto& all = truth_.queue_of(directory);
               return std::all_of(all.begin(), all.end(), [&](const auto& entry) {
                   return is_known(*entry.second);
               });
           });
}

bool group_judge::idle() const {
    const bool over = !until_ || stage_.now() >= *until_;
    return over && judge::idle() && agreed() &&
           std::all_of(enrolments_.begin(), enrolments_.end(), [](const auto& e) {
               return e->over || e->by->closed || e->by->crashed;
           });
}

void group_judge::check_end() {
    judge::check_end();
    check_requests();
}

// ---- what it costs ----

void group_judge::check_requests() const {
    std::set<const client_record*> checked;
    for (const auto& e : enrolments_) {
        if (quiet() && e->by->sessions.size() == 1 && checked.insert(e->by.get()).second) {
            check_requests_of(*e->by);
        }
    }
}

/// Who watches lists the names once for each time that somebody comes or goes, and reads what is
/// new; who is a member, what becomes of its own name.
void group_judge::check_requests_of(const client_record& by) const {
    testing::counters most;
    for (const auto& w : watchings_) {
        if (w->by.get() == &by) {
            const auto events = groups_.in(w->directory).since(w->before);
            most.children += 2 + events.creates + events.removes;
            most.gets += w->there_before + events.creates + events.writes;
        }
    }
    for (const auto& e : enrolments_) {
        if (e->by.get() == &by) {
            most.gets += 3 + groups_.of(e->path).since(e->before).all();
        }
    }
    ++stage_.counts.budgets;
    const auto within = [&](const char* what, std::uint64_t asked, std::uint64_t allowed) {
        if (asked > allowed) {
            stage_.broken("I11",
                          "client " + std::to_string(by.number) + " sent " + std::to_string(asked) +
                              ' ' + what + " instead of " + std::to_string(allowed));
        }
    };
    within("lists", by.asked.children, most.children);
    within("gets", by.asked.gets, most.gets);
}

}  // namespace latchkey::simulation
