#include "direct/direct_message.hpp"
#include "ensemble/cluster.hpp"
#include "judge.hpp"
#include "plan.hpp"

#include <algorithm>

// What the ensemble shows.

namespace latchkey::simulation {

namespace {

/// Of a delay.
bool is_record(const std::string& path) {
    return path.substr(path.rfind('/') + 1).starts_with("delay-");
}

}  // namespace

void judge::opened(const std::shared_ptr<client_record>& by, std::int64_t session) {
    ++by->connections;
    by->busy_until = by->connected_at = stage_.now();
    if (by->session == session) {
        return;
    }
    stage_.tell("client ", by->number, " has session ", session);
    if (by->ended) {
        stage_.broken("I10",
                      "client " + std::to_string(by->number) + " opened a session after its end");
    }
    // A session that was replaced without a word leaves its watches to the next one.
    by->abandoned = by->session != 0 && stage_.what.uses(fault::session_replaced)
                        ? by->abandoned + 2 * by->places
                        : 0;
    by->session = session;
    by->sessions.insert(session);
    by->asked = {};
    clients_[session] = by;
}

void judge::received(const model::connection& c, const model::packet& p) {
    if (told_) {
        told_->received(p);
    }
    if (p.what == model::packet::kind::close) {
        stage_.tell("  ", c.session & 0xffff, ": farewell");
        farewells_[c.session] = &c;
        truth_.ended_by_client(c.session);
        return;
    }
    // What was sent before on another connection may still arrive.
    const auto farewell = farewells_.find(c.session);
    if (farewell != farewells_.end() && farewell->second == &c) {
        stage_.broken("I10",
                      std::string("a ") + to_string(p.body.what) + " after the end of its session");
    }
    if (client_record* const by = client_of(c.session)) {
        ++model::request_counters::counter_for(by->asked, p.body);
    }
    ++stage_.counts.requests;
    stage_.tell("  ",
                c.session & 0xffff,
                ": ",
                to_string(p.body.what),
                ' ',
                p.body.what == request::kind::multi ? p.body.operations.front().path : p.body.path);
}

void judge::answering(const model::connection& c, const request& r, result_code code) {
    client_record* const by = client_of(c.session);
    if (by != nullptr && code != result_code::ok) {
        by->refused_at = stage_.now();
    }
    if (r.what == request::kind::get && by != nullptr) {
        const auto p = truth_.find(r.path);
        by->wake_ups += p != nullptr && !p->there() ? 1U : 0U;  // it learns the same this way
    }
    if (by == nullptr || (r.what != request::kind::get && r.what != request::kind::children)) {
        return;
    }
    check_watches(c, *by);
}

/// A direct message of one of the clients.
void judge::sent(std::string_view datagram) {
    const auto m = read_direct_message(datagram);
    if (!m || m->what != direct_message::kind::hands_on) {
        return;
    }
    stage_.tell(m->ahead, " hands on to ", m->behind);
    const auto p = truth_.named(m->ahead);
    const auto is_in = [&p](const held* h) { return h->place == p && !is_over(*h); };
    if (!p || std::any_of(holds_.begin(), holds_.end(), is_in)) {
        return stage_.broken("I1", m->ahead + " handed on what is held");
    }
    for (const deal& d : deals_) {
        if (d.token.zxid == p->czxid && !d.told) {
            return stage_.broken("I3", m->ahead + " handed on before " + d.who + " was answered");
        }
    }
    p->handed_on = true;
    told_next(*p, m->text);
}

/// Only who holds watches the directory, and who did.
bool judge::may_watch(const std::string& path, std::int64_t session) const {
    if (!stage_.what.turns) {
        return false;
    }
    const auto& now = truth_.queue_of(path);
    const auto was_granted = [&](const auto& one) {
        const participant& own = *one.second;
        const auto still_ahead = [&](const auto& other) {
            return !other.second->foreign() && !other.second->handed_on &&
                   !(own.shared && other.second->shared);
        };
        return own.owner == session &&
               std::none_of(now.begin(), now.lower_bound(own.place), still_ahead);
    };
    const auto& all = truth_.history_of(path);
    return std::any_of(all.begin(), all.end(), was_granted);
}

void judge::check_watches(const model::connection& c, const client_record& by) {
    for (const std::string& path : c.child_watches) {
        if (!may_watch(path, c.session)) {
            return stage_.broken("I6", "a watch on the children of " + path);
        }
    }
    if (c.session != by.session) {
        return;  // a server was late: what is counted here is of the session that came after
    }
    std::size_t leaving = 0;
    for (const auto& waiting : calls_) {
        const bool leaves = waiting->stopped || (waiting->limit && waiting->ends() <= stage_.now());
        leaving += waiting->by.get() == &by && leaves ? waiting->places : 0;
    }
    // Its own znodes are watched besides, each once.
    const auto on_others = static_cast<std::uint64_t>(
        std::count_if(c.data_watches.begin(), c.data_watches.end(), [&](const auto& path) {
            const auto p = truth_.find(path);
            return p == nullptr ? !may_watch(path, c.session)
                                : !p->handed_on && !by.sessions.contains(p->owner);
        }));
    // One that an operator puts between two takes the place of the one watched before.
    const std::uint64_t put_between = stage_.counts.faults[index_of(fault::foreign_child)];
    if (on_others > by.places + by.abandoned + leaving + put_between) {
        stage_.broken("I6",
                      "client " + std::to_string(by.number) + " watches " +
                          std::to_string(on_others) + " znodes of others");
    }
}

void judge::committed(const model::transaction& t) {
    participants changed;
    if (t.what == model::transaction::kind::close_session) {
        truth_.session_ended(t.session, stage_.now());
    }
    for (const model::change& c : t.changes) {
        if (c.what == model::change::kind::set_data && c.path == register_path && t.session != 0) {
            deal_committed(t, c.data);
        }
        follow_data(t, c);
        const std::shared_ptr<participant> p = truth_.apply(t, c, stage_.now());
        if (p == nullptr) {
            const bool removal = c.what == model::change::kind::remove;
            directories_removed_ += removal && !is_record(c.path) ? 1U : 0U;
            if (removal && is_record(c.path) && t.session == 0) {
                note_record_removed(c.path);
            }
            continue;
        }
        changed.push_back(p);
        stage_.tell("    ", p->there() ? "+ " : "- ", p->path, " by ", t.session & 0xffff);
        if (p->there()) {
            turns_.joined(*p);
        } else {
            removed(*p);
        }
    }
    if (told_) {
        told_->committed(t);
    }
    applied(t, changed);
}

void judge::removed(const participant& p) {
    if (p.how == participant::ending::robbed) {
        stage_.broken("I5", "another session deleted " + p.path);
    }
    check_stayed(p);
    note_death(p);
    const auto& queue = truth_.queue_of(p.path.substr(0, p.path.rfind('/')));
    stage_.counts.releases += queue.upper_bound(p.place) != queue.end() ? 1U : 0U;
    if (client_record* const by = client_of(p.owner)) {
        // Whoever had this place may wait for another one now.
        by->abandoned += p.how == participant::ending::taken ? 1U : 0U;
    }
}

void judge::notified(const model::connection& c, const std::string& path, bool replayed) {
    client_record* const by = client_of(c.session);
    if (by != nullptr) {
        ++by->wake_ups;
    }
    const std::shared_ptr<participant> p = truth_.find(path);
    if (!replayed && p != nullptr && !p->there() && p->owner != c.session &&
        woken_[path].insert(c.session).second) {
        ++stage_.counts.wake_ups;
    }
}

}  // namespace latchkey::simulation
