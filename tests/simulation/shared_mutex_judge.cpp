#include "shared_mutex_judge.hpp"

#include "hold/hold_state.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;
using enum lock_mode;

// ---- who holds ----

bool shared_mutex_judge::may_be_beside(const held& a, const held& b) const {
    if (a.as.mode == shared && b.as.mode == shared) {
        return true;
    }
    if (a.as.mode == exclusive || b.as.mode == exclusive || a.as.mode == b.as.mode) {
        return false;
    }
    const held& reader = a.as.mode == shared ? a : b;
    const held& upgrader = a.as.mode == shared ? b : a;
    return reader.place->place < upgrader.place->place;
}

/// Another znode takes the place of the one that was held, with no grant between.
void shared_mutex_judge::follow(held& h) {
    if (h.gave_way && h.place->successor != nullptr) {
        h.place = h.place->successor;
        h.taken_at = stage_.now();
    }
    if (h.from != shared || h.place->how != participant::ending::released) {
        return;
    }
    // The last one: those before it were taken away, before they were known to be granted.
    const auto& history = truth_.history_of(h.directory);
    const std::int64_t owner = h.place->owner;
    for (auto it = history.upper_bound(h.newest_before); it != history.end(); ++it) {
        const auto& other = it->second;
        if (!other->shared && other->owner == owner &&
            other->how != participant::ending::released && is_first_of_its_kind(*other)) {
            h.place = other;
            h.taken_at = stage_.now();
        }
    }
}

/// No writer is ahead, nor who may upgrade.
bool shared_mutex_judge::is_first_of_its_kind(const participant& p) const {
    const auto& queue = truth_.queue_of(p.path.substr(0, p.path.rfind('/')));
    return std::all_of(queue.begin(), queue.lower_bound(p.place), [](const auto& entry) {
        return entry.second->shared;
    });
}

void shared_mutex_judge::check_order(const std::string& who,
                                     const std::string& directory,
                                     const wish& w,
                                     fencing_token token) {
    tokens& last = newest_[directory];
    const fencing_token before = w.mode == exclusive ? last.of_all
                                 : w.mode == upgrade ? last.of_alone
                                                     : last.of_exclusive;
    if (token <= before) {
        return stage_.broken("I3",
                             who + " was granted " + token.to_string() + to_string(w) + " after " +
                                 before.to_string());
    }
    last.of_all = std::max(last.of_all, token);
    if (w.mode != shared) {
        last.of_alone = std::max(last.of_alone, token);
    }
    if (w.mode == exclusive) {
        last.of_exclusive = std::max(last.of_exclusive, token);
    }
}

// ---- conversions ----

void shared_mutex_judge::changes(held& h, lock_mode to, const std::optional<duration>& limit) {
    stage_.tell(h.who,
                " changes ",
                h.token.to_string(),
                " from ",
                latchkey::to_string(h.as.mode),
                " to ",
                latchkey::to_string(to),
                limit ? " within " + std::to_string(*limit / 1ms) + " ms" : "");
    h.from = h.as.mode;
    h.to = to;
    h.newest_before = truth_.history_of(h.directory).rbegin()->first;
    h.gave_way = h.gave_way || (to == shared && h.as.mode != shared);
    h.as.mode = std::min(h.as.mode, to);
    h.change_due.reset();
    if (limit && to != shared) {
        h.change_due = stage_.now() + h.by->lasting(std::max(*limit, h.by->timeout));
    }
    h.pauses_before = h.by->pauses;
}

void shared_mutex_judge::changed(held& h, std::error_code ec) {
    const lock_mode reached = h.what->mode();
    stage_.tell(h.who,
                " has ",
                h.what->token().to_string(),
                ' ',
                latchkey::to_string(reached),
                ec ? ", " + ec.message() : "",
                h.what->valid() ? "" : ", lost");
    stage_.mark(static_cast<std::uint64_t>(h.what->token().zxid) ^
                static_cast<std::uint64_t>(ec.value()) ^ static_cast<std::uint64_t>(reached));
    const bool done = reached == h.to;
    ++(done ? stage_.counts.conversions : stage_.counts.unconverted);
    h.by->abandoned += done ? 0U : 1U;
    h.by->busy_until = stage_.now();
    if (!h.from) {
        return stage_.broken("I9", h.who + " was told twice of a conversion");
    }
    const lock_mode from = *std::exchange(h.from, std::nullopt);
    check_changed(h, ec, from);
    if (h.what->token() == h.token) {
        check_new_mode(h, from);
    } else {
        check_new_znode(h, from);
    }
    h.as.mode = reached;
}

void shared_mutex_judge::check_changed(const held& h, std::error_code ec, lock_mode from) {
    const lock_mode reached = h.what->mode();
    const bool steps = from == shared && h.to == exclusive && reached == upgrade;
    if (is_empty(*h.what) || (reached != from && reached != h.to && !steps)) {
        return stage_.broken("I9",
                             h.who + " got back something else, " + latchkey::to_string(reached));
    }
    if (ec && ec != errc::hold_lost && !is_known_cause(ec, *h.by, true)) {
        stage_.broken("I9", h.who + " was told an error without a cause: " + ec.message());
    }
    if (!h.change_due || h.pauses_before != h.by->pauses || h.by->paused) {
        return;
    }
    // What is open when a connection breaks is known at the latest when the hold is lost.
    const duration lost = h.by->connected_at + h.by->lasting(h.by->timeout);
    if (stage_.now() > std::max(*h.change_due, lost) + h.by->lasting(1s) + 20ms) {
        stage_.broken("I8", h.who + " was told of a conversion long after it was due");
    }
}

/// The same place in the queue, and its token.
void shared_mutex_judge::check_new_mode(held& h, lock_mode from) {
    const lock_mode reached = h.what->mode();
    h.place = truth_.find(h.by->chroot + h.what->path());
    if (h.place == nullptr || h.place->place.zxid != h.token.zxid) {
        return stage_.broken("I1", h.who + " got back another place");
    }
    if (from == shared && reached != shared) {
        return stage_.broken("I3", h.who + " kept a reader's token");
    }
    if (h.what->valid() && h.place->there() && h.place->shared != (reached == shared)) {
        return stage_.broken("I1", h.who + " holds by " + h.place->path);
    }
    if (reached != exclusive || from == exclusive || !h.what->valid()) {
        return;
    }
    check_was_first(h.who, h.directory, *h.place, {.mode = exclusive});
    tokens& last = newest_[h.directory];
    if (h.place->there() && h.token < last.of_all) {
        return stage_.broken("I3", h.who + " may write after " + last.of_all.to_string());
    }
    last.of_exclusive = std::max(last.of_exclusive, h.token);
}

/// Who shared is another participant now.
void shared_mutex_judge::check_new_znode(held& h, lock_mode from) {
    const lock_mode reached = h.what->mode();
    const auto before = h.place;
    h.token = h.what->token();
    h.state = hold_state::of(*h.what);
    h.place = truth_.find(h.by->chroot + h.what->path());
    if (from != shared || reached == shared) {
        return stage_.broken("I3", h.who + " lost its token by a conversion");
    }
    if (h.place == nullptr || h.place->czxid != h.token.zxid) {
        return stage_.broken("I3", h.who + "'s token is not the czxid of its znode");
    }
    if (h.lost_at) {
        return stage_.broken("I1", h.who + " had lost what it converted");
    }
    if (before != h.place && !before->there() && before->gone < h.place->czxid) {
        return stage_.broken("I1", h.who + " let others between");
    }
    h.taken_at = stage_.now();
    h.troubles_before = stage_.troubles;
    h.disturbances_before = stage_.disturbances;
    replaces(*before, *h.place);
    if (h.what->valid()) {
        check_delays(h.who, *h.place);
    }
    if (h.what->valid() && h.place->there()) {
        check_was_first(h.who, h.directory, *h.place, {.mode = reached});
        check_order(h.who, h.directory, {.mode = reached}, h.token);
    }
}

// ---- who is woken ----

bool shared_mutex_judge::wants_to_upgrade(const participant& p) const {
    const client_record* const by = client_of(p.owner);
    return std::any_of(calls_.begin(), calls_.end(), [&](const auto& c) {
        return c->by.get() == by && c->what.mode == upgrade;
    });
}

void shared_mutex_judge::removed(const participant& p) {
    judge::removed(p);
    const auto& queue = truth_.queue_of(p.path.substr(0, p.path.rfind('/')));
    std::set<std::int64_t>& sessions = may_wake_[p.path];
    bool between = false;
    for (auto next = queue.upper_bound(p.place); next != queue.end(); ++next) {
        const participant& waiting = *next->second;
        if (!waiting.shared) {
            if (!between || (!p.shared && wants_to_upgrade(waiting))) {
                sessions.insert(waiting.owner);
            }
            return;
        }
        between = true;
        if (!p.shared) {
            sessions.insert(waiting.owner);
        }
    }
}

void shared_mutex_judge::check_wake_ups() {
    if (stage_.counts.faults[index_of(fault::foreign_child)] > 0) {
        return;  // an operator's put between two has them look again
    }
    for (const auto& [path, sessions] : woken_) {
        for (const std::int64_t session : sessions) {
            const client_record* const by = client_of(session);
            if (by != nullptr && by->session == session && by->abandoned == 0 && !by->crashed &&
                !may_wake_[path].contains(session)) {
                stage_.broken("I7",
                              path + " woke client " + std::to_string(by->number) + " for nothing");
            }
        }
    }
}

}  // namespace latchkey::simulation
