#include "cluster.hpp"
#include "judge.hpp"
#include "plan.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

// What the ensemble shows, and what is checked against it.

namespace latchkey::simulation {

using namespace std::chrono_literals;

namespace {

std::uint64_t& counter_of(testing::counters& c, const request& r) {
    switch (r.what) {
        case request::kind::create:
            return c.creates;
        case request::kind::remove:
            return c.removes;
        case request::kind::get:
            return c.gets;
        case request::kind::exists:
            return c.exists;
        case request::kind::children:
            return c.children;
        case request::kind::set:
            return c.sets;
        case request::kind::sync:
            return c.syncs;
        default:
            break;
    }
    const bool beats = std::all_of(r.operations.begin(), r.operations.end(), [](const request& o) {
        return o.what == request::kind::check;
    });
    return beats ? c.checks : c.multis;
}

const char* name_of(request::kind k) {
    switch (k) {
        case request::kind::create:
            return "create";
        case request::kind::remove:
            return "remove";
        case request::kind::get:
            return "get";
        case request::kind::exists:
            return "exists";
        case request::kind::children:
            return "children";
        case request::kind::set:
            return "set";
        case request::kind::check:
            return "check";
        case request::kind::multi:
            return "multi";
        case request::kind::sync:
            return "sync";
    }
    return "?";
}

}  // namespace

void judge::opened(const std::shared_ptr<client_record>& by, std::int64_t session) {
    ++by->connections;
    by->busy_until = stage_.now();
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
                        ? by->abandoned + 2 * by->objects
                        : 0;
    by->session = session;
    by->sessions.insert(session);
    by->asked = {};
    clients_[session] = by;
}

void judge::received(const model::connection& c, const model::packet& p) {
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
                      std::string("a ") + name_of(p.body.what) + " after the end of its session");
    }
    if (client_record* const by = client_of(c.session)) {
        ++counter_of(by->asked, p.body);
    }
    ++stage_.counts.requests;
    stage_.tell("  ",
                c.session & 0xffff,
                ": ",
                name_of(p.body.what),
                ' ',
                p.body.what == request::kind::multi ? p.body.operations.front().path : p.body.path);
}

void judge::answering(const model::connection& c, const request& r) {
    client_record* const by = client_of(c.session);
    if (r.what == request::kind::get && by != nullptr) {
        const auto p = truth_.find(r.path);
        by->wake_ups += p != nullptr && !p->there() ? 1U : 0U;  // it learns the same this way
    }
    if (by == nullptr || (r.what != request::kind::get && r.what != request::kind::children)) {
        return;
    }
    if (!c.child_watches.empty()) {
        return stage_.broken("I6", "a watch on the children of " + *c.child_watches.begin());
    }
    const auto leaving = static_cast<std::uint64_t>(
        std::count_if(calls_.begin(), calls_.end(), [&](const auto& waiting) {
            return waiting->by.get() == by &&
                   (waiting->stopped ||
                    (waiting->limit && waiting->begun + *waiting->limit <= stage_.now()));
        }));
    // Its own znodes are watched besides, each once.
    const auto on_others = static_cast<std::uint64_t>(
        std::count_if(c.data_watches.begin(), c.data_watches.end(), [&](const auto& path) {
            const auto p = truth_.find(path);
            return p == nullptr || p->owner != c.session;
        }));
    // One that an operator puts between two takes the place of the one watched before.
    const std::uint64_t put_between = stage_.counts.faults[index_of(fault::foreign_child)];
    if (on_others > by->objects + by->abandoned + leaving + put_between) {
        stage_.broken("I6",
                      "client " + std::to_string(by->number) + " watches " +
                          std::to_string(on_others) + " znodes of others");
    }
}

void judge::committed(const model::transaction& t) {
    for (const model::change& c : t.changes) {
        if (c.what == model::change::kind::set_data && c.path == register_path && t.session != 0) {
            deal_committed(t, c.data);
        }
        const std::shared_ptr<participant> p = truth_.apply(t, c, stage_.now());
        if (p == nullptr) {
            directories_removed_ += c.what == model::change::kind::remove ? 1U : 0U;
            continue;
        }
        stage_.tell("    ", p->there() ? "+ " : "- ", p->path, " by ", t.session & 0xffff);
        if (!p->there()) {
            removed(*p);
        }
    }
}

void judge::removed(const participant& p) {
    if (p.how == participant::ending::robbed) {
        stage_.broken("I5", "another session deleted " + p.path);
    }
    const auto& queue = truth_.queue_of(p.path.substr(0, p.path.rfind('/')));
    stage_.counts.releases += queue.upper_bound(p.czxid) != queue.end() ? 1U : 0U;
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

// ---- after every event ----

bool judge::believes(const held& h) const {
    return asks_ ? h.what->valid()
                 : stage_.servers.now() < h.what->valid_until().time_since_epoch();
}

void judge::check() {
    if (stage_.over()) {
        return;  // what was found out says nothing of what else is so
    }
    for (auto h = holds_.begin(); h != holds_.end(); ++h) {
        if (!believes(**h)) {
            continue;
        }
        using enum participant::ending;
        const participant& place = *(*h)->place;
        if (place.how == taken) {
            check_taken(**h);
        } else if (place.how != none) {
            stage_.broken(place.how == expired ? "I2" : "I1",
                          (*h)->who + " is valid and its znode is gone");
        }
        for (auto other = holds_.begin(); other != h; ++other) {
            if ((*other)->directory == (*h)->directory && believes(**other)) {
                overlap(**other, **h);
            }
        }
    }
}

/// Somebody took its znode away: it may be believed until the client can know.
void judge::check_taken(const held& h) {
    const bool session_ended = truth_.was_ended(h.place->owner);
    const duration known = h.by->timeout * (session_ended ? 1 : 2);
    if (stage_.now() > h.place->ended + known) {
        stage_.broken("I2", h.who + " is still valid, long after its znode was taken away");
    }
}

void judge::overlap(held& a, held& b) {
    if (a.place->there() && b.place->there()) {
        stage_.broken("I1", a.who + " and " + b.who + " hold at once");
    }
    held& earlier = a.token < b.token ? a : b;
    if (!std::exchange(earlier.overlapped, true)) {
        ++stage_.counts.overlaps;
    }
}

// ---- at the end ----

bool judge::idle() const {
    const auto is_crashed = [](const auto& one) { return one->by->crashed; };
    return std::all_of(holds_.begin(), holds_.end(), is_crashed) &&
           std::all_of(calls_.begin(), calls_.end(), is_crashed);
}

bool judge::empty() const {
    return std::all_of(queues_watched_.begin(), queues_watched_.end(), [&](const auto& directory) {
        const auto& queue = truth_.queue_of(directory);
        return std::all_of(
            queue.begin(), queue.end(), [](const auto& entry) { return entry.second->foreign(); });
    });
}

/// Znodes of sessions that live are known to their clients: while everything is calm, a client has
/// at most one for each object that is used.
void judge::check_known() {
    std::map<std::int64_t, std::size_t> owned;
    for (const std::string& directory : queues_watched_) {
        for (const auto& [czxid, p] : truth_.queue_of(directory)) {
            ++owned[p->owner];
        }
    }
    for (const auto& [session, count] : owned) {
        const client_record* const by = client_of(session);
        if (by != nullptr && by->session == session && !by->crashed && count > by->objects) {
            stage_.broken("I5",
                          "client " + std::to_string(by->number) + " owns " +
                              std::to_string(count) + " znodes");
        }
    }
}

void judge::check_end() {
    for (const auto& c : calls_) {
        if (!c->by->crashed) {
            stage_.broken("I9", c->who + " was never told");
        }
    }
    for (const loss_record& l : losses_) {
        if (!l.by->crashed && l.lost.stop_requested() != l.was_lost) {
            stage_.broken("I9",
                          l.who + (l.was_lost ? "'s stop token was never requested"
                                              : "'s stop token was requested without a loss"));
        }
    }
    for (const deal& d : deals_) {
        if (d.told == 0 && !d.by->crashed) {
            stage_.broken("I9", d.who + " was never told of a transaction");
        }
    }
    check_wake_ups();
}

/// One release wakes one waiter. Who gave up a place may be told of the znode ahead of it all the
/// same: its watch cannot be taken back.
void judge::check_wake_ups() {
    for (const auto& [path, sessions] : woken_) {
        const auto waiting = std::count_if(sessions.begin(), sessions.end(), [&](auto session) {
            const client_record* const by = client_of(session);
            return by != nullptr && by->session == session && by->abandoned == 0;
        });
        if (waiting > 1) {
            stage_.broken("I7", path + " woke " + std::to_string(waiting) + " waiters");
        }
    }
}

std::string judge::picture() const {
    std::ostringstream out;
    for (int i = 0; i < stage_.cluster.size(); ++i) {
        const model::server& s = stage_.cluster.at(i);
        constexpr std::array roles{"stopped", "looks", "follows", "leads"};
        out << (i == 0 ? "" : ", ") << "server " << i << ' '
            << roles[static_cast<std::size_t>(s.now_is())] << " in epoch " << s.epoch() << " at "
            << std::hex << s.applied().zxid() << std::dec << " of " << std::hex << s.last_logged()
            << std::dec;
    }
    for (const auto& s : stage_.servers.sessions()) {
        const client_record* const by = client_of(s.id);
        out << "; session " << (s.id & 0xffff) << " of client " << (by != nullptr ? by->number : -1)
            << (s.alive ? "" : " dead") << " at " << (s.connected ? s.server : -1)
            << (by != nullptr && by->paused ? ", stopped" : "");
    }
    for (const std::string& directory : queues_watched_) {
        for (const auto& [czxid, p] : truth_.queue_of(directory)) {
            out << "\n    " << p->path << " of " << (p->owner & 0xffff);
        }
    }
    for (const held* const h : holds_) {
        out << "\n    " << h->who << " holds " << h->token.to_string()
            << (believes(*h) ? "" : ", lost");
    }
    for (const auto& c : calls_) {
        out << "\n    " << c->who << " waits since " << c->begun / 1ms << " ms";
    }
    return out.str();
}

}  // namespace latchkey::simulation
