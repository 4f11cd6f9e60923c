#include "ensemble/cluster.hpp"
#include "judge.hpp"

#include <algorithm>
#include <utility>

// What is checked after every event, and at every grant.

namespace latchkey::simulation {

using namespace std::chrono_literals;

bool judge::believes(const held& h) const {
    const auto state = h.state.lock();
    if (!state) {
        return false;
    }
    // Whose process is stopped cannot ask; and asking it ends a hold whose time is over. Its clock
    // decides.
    return asks_ && !h.by->paused ? state->valid() : h.by->clock->now() < state->valid_until();
}

void judge::check() {
    if (stage_.over()) {
        return;  // what was found out says nothing of what else is so
    }
    for (auto h = holds_.begin(); h != holds_.end(); ++h) {
        follow(**h);
        const bool believed = believes(**h);
        check_times(**h, believed);
        check_place(**h, *(*h)->place, believed);
        for (const auto& other : (*h)->others) {
            check_place(**h, *other, believed);
        }
        if (!believed) {
            check_lost(**h);
            continue;
        }
        if ((*h)->lost_at) {
            stage_.broken("I2", (*h)->who + " is believed again");
        }
        for (auto other = holds_.begin(); other != h; ++other) {
            if (!may_be_beside(**other, **h) && believes(**other)) {
                overlap(**other, **h);
            }
        }
    }
    check_together();
}

void judge::check_place(const held& h, const participant& place, bool believed) {
    using enum participant::ending;
    if (place.how == released && !h.by->closed && !is_over(h)) {
        stage_.broken("I1", h.who + " gave way before it was released");
    }
    if (!believed) {
        return;
    }
    if (place.how == taken) {
        check_taken(h, place);
    } else if (place.how != none) {
        stage_.broken(place.how == expired ? "I2" : "I1",
                      h.who + " is valid and its znode is gone");
    }
}

/// Somebody took its znode away: it may be believed until the client can know.
void judge::check_taken(const held& h, const participant& place) {
    const auto session_ended = truth_.end_of(place.owner);
    duration known = place.ended + 2 * h.by->timeout;
    if (session_ended) {
        known = std::min(known, *session_ended + h.by->timeout);
    }
    if (stage_.now() > known) {
        stage_.broken("I2", h.who + " is still valid, long after its znode was taken away");
    } else if (stage_.now() > place.ended + stage_.hops(4) && !session_ended &&
               undisturbed(h, place)) {
        stage_.broken("I2", h.who + " did not hear at once that its znode was taken away");
    }
}

/// Nothing has kept it from having its znode watched, and from being told.
bool judge::undisturbed(const held& h, const participant& place) const {
    const duration settled = place.ended - stage_.hops(20) - 20ms;
    return h.troubles_before == 0 && stage_.disturbances == h.disturbances_before &&
           !h.by->paused && !h.by->ended && !h.by->suspended && !h.from &&
           stage_.last_cut < settled && h.taken_at < settled && h.by->connected_at < settled &&
           its_server_knows(h.by->session, place.gone);
}

/// A leader that others have replaced while it was stopped still takes connections, for a while.
bool judge::its_server_knows(std::int64_t session, std::int64_t zxid) const {
    const auto all = stage_.servers.sessions();
    return std::any_of(all.begin(), all.end(), [&](const auto& s) {
        return s.id == session && s.connected &&
               stage_.cluster.at(s.server).applied().zxid() >= zxid;
    });
}

/// Who does not believe any more has been told so, if his process runs.
void judge::check_lost(held& h) {
    const auto state = h.state.lock();
    if (!state || (h.from && state->why_lost() == loss_reason::none)) {
        return;  // replaced by another one, which was not told yet
    }
    if (!h.lost_at) {
        h.lost_at = stage_.now();
    }
    const client_record& by = *h.by;
    const duration due = std::max(*h.lost_at, by.running_since) + 1ms;
    if (stage_.now() > due && !by.paused && !by.crashed && !state->lost().stop_requested()) {
        stage_.broken("I9", h.who + " lost its hold and was not told");
    }
}

void judge::overlap(held& a, held& b) {
    bool meet = false;
    const auto both = [&](const participant& mine, const participant& other) {
        if (mine.directory == other.directory) {
            meet = true;
            if (mine.there() && other.there()) {
                stage_.broken("I1", a.who + " and " + b.who + " hold at once");
            }
        }
    };
    const auto all_of_b = [&](const participant& mine) {
        both(mine, *b.place);
        for (const auto& other : b.others) {
            both(mine, *other);
        }
    };
    all_of_b(*a.place);
    for (const auto& other : a.others) {
        all_of_b(*other);
    }
    held& earlier = a.token < b.token ? a : b;
    if (meet && !std::exchange(earlier.overlapped, true)) {
        ++stage_.counts.overlaps;
    }
}

// ---- at a grant ----

void judge::check_first(const call& c, const participants& places) {
    check_was_first(c.who, c.directory, *places.front(), c.what);
}

/// There was a moment at which no participant was ahead that had not handed on, and the client
/// could know it.
void judge::check_was_first(const std::string& who,
                            const std::string& directory,
                            const participant& place,
                            const wish& w) {
    for (const auto& [ahead, other] : truth_.history_of(directory)) {
        if (ahead >= place.place) {
            break;
        }
        if (other->foreign() || other->attempt == place.attempt || !blocks(*other, w)) {
            continue;
        }
        if (other->there() && !other->handed_on) {
            return stage_.broken("I4", who + " was granted while " + other->path + " is ahead");
        }
        // Who is told directly may not have heard of an operator's deletion yet, as any holder.
        const bool unheard = stage_.what.direct > 0 && place.how == participant::ending::taken;
        if (!place.there() && place.gone < other->gone && !other->handed_on && !unheard) {
            return stage_.broken(
                "I4", who + " was granted, and was gone before " + other->path + ", ahead of it");
        }
    }
    if (truth_.unorderable(place.path)) {
        return stage_.broken("I4", who + " was granted at the end of the sequence, " + place.path);
    }
    const auto& unordered = truth_.unordered_in(directory);
    if (!unordered.empty() && unordered.begin()->first < place.place.zxid) {
        stage_.broken("I4", who + " was granted beside " + unordered.begin()->second);
    }
}

/// Who came first to an object is served first, unless he has given up.
void judge::check_callers(const call& c) {
    if (!stage_.recipe.one_at_a_time()) {
        return;
    }
    const auto served = [&](const call& earlier) {
        return earlier.by == c.by && earlier.object == c.object &&
               earlier.calls_before < c.calls_before && !earlier.stopped &&
               (!earlier.limit || (*earlier.limit > duration{} && earlier.ends() > stage_.now()));
    };
    for (const auto& other : calls_) {
        if (!c.by->closed && served(*other)) {
            return stage_.broken("I4", c.who + " was granted before " + other->who);
        }
    }
}

void judge::check_budget(const call& c, const hold& h) {
    const client_record& by = *c.by;
    if (!c.undisturbed || !quiet() || by.connections != c.connections_before ||
        by.calls != c.calls_before) {
        return;
    }
    if (const std::optional<testing::counters> most = budget(c, h)) {
        check_asked(c.who, c.asked_before, by.asked, *most);
    }
}

void judge::check_asked(const std::string& who,
                        const testing::counters& then,
                        const testing::counters& now,
                        const testing::counters& most) {
    ++stage_.counts.budgets;
    const auto within = [&](const char* what, std::uint64_t asked, std::uint64_t allowed) {
        if (asked > allowed) {
            stage_.broken("I11",
                          who + " sent " + std::to_string(asked) + " " + what + " instead of " +
                              std::to_string(allowed));
        }
    };
    within("creates", now.creates - then.creates, most.creates);
    within("lists", now.children - then.children, most.children);
    within("gets", now.gets - then.gets, most.gets);
    within("deletes", now.removes - then.removes, most.removes);
    within("transactions", now.multis - then.multis, most.multis);
    within("syncs", now.syncs - then.syncs, most.syncs);
}

std::uint64_t judge::levels_of(const client_record& by, const std::string& path) {
    return static_cast<std::uint64_t>(std::count(path.begin(), path.end(), '/') - 1 +
                                      std::count(by.chroot.begin(), by.chroot.end(), '/'));
}

void judge::reads(const std::string& who, std::int64_t found, std::int64_t least) {
    if (found < least) {
        stage_.broken("I16", who + " does not see what the holder before it has written");
    }
}

void judge::state(client_record& by, connection_state s) {
    if (by.ended) {
        stage_.broken("I10",
                      "client " + std::to_string(by.number) + " told of a state after the last");
    }
    by.ended = s == connection_state::closed;
    by.suspended = s == connection_state::suspended;
    by.lost = s == connection_state::lost;
}

/// What a candidate does to reach others directly, and to be reached.
void judge::add_contacts(testing::counters& most,
                         const client_record& by,
                         const std::string& path,
                         std::uint64_t woken) const {
    if (stage_.what.direct > 0) {
        most.creates += 1 + levels_of(by, path) + 1;
        most.gets += 3 + woken;  // the contact, and then the record
        most.multis += 1;
    }
}

std::optional<testing::counters> judge::budget(const call& c, const hold& h) const {
    const std::uint64_t woken = c.by->wake_ups - c.wake_ups_before;
    const std::uint64_t delay = c.times.lock_delay > duration{} ? 1 : 0;
    testing::counters most;
    most.creates = 1 + levels_of(*c.by, h.path());
    most.children = 1 + woken + (c.tries() ? 1 : 0);
    if (stage_.what.turns) {
        most.children += 2 + woken;  // a place is listed once, and at each change
        most.removes = 1;            // the object may give up a place meanwhile
        most.multis = delay;         // and the record of its delay with it
    }
    // In a long queue the data of the directory is read first, and written then.
    const std::uint64_t data = stage_.what.long_queue > 0 ? 1 : 0;
    most.gets += 2 + woken + (woken + 1) * data;
    most.gets += truth_.is_of_mutexes() ? 1 : 0;  // the watch on the directory
    most.multis += delay + data;
    return most;
}

}  // namespace latchkey::simulation
