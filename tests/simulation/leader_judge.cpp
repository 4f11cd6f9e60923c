#include "leader_judge.hpp"

#include "leader_term.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

// ---- candidates ----

void leader_judge::begins(const std::shared_ptr<candidacy>& c) {
    client_record& by = *c->by;
    const bool alone = std::none_of(candidacies_.begin(), candidacies_.end(), [&](const auto& o) {
        return o->by == c->by && !o->closed;
    });
    c->undisturbed = alone && !c->takes_part && by.session != 0 && by.places == 1 &&
                     !by.suspended && stage_.now() - by.busy_until > 100ms;
    c->connections_before = by.connections;
    c->wake_ups_before = by.wake_ups;
    c->asked_before = by.asked;
    by.places += c->takes_part ? 1U : 0U;  // whom it offers the leadership to is watched
    candidacies_.push_back(c);
    stage_.tell(c->who,
                " is a candidate in ",
                c->directory,
                c->steps_down ? ", and steps down when suspended" : "");
}

void leader_judge::waited(call& c,
                          std::error_code ec,
                          const leadership& term,
                          const candidacy& by) {
    stage_.tell(c.who,
                " has waited for ",
                ec ? ec.message() : "",
                term ? "term " + term.fencing_token().to_string() : "",
                !ec && !term ? "nothing" : "");
    stage_.mark(static_cast<std::uint64_t>(term.fencing_token().zxid) ^
                static_cast<std::uint64_t>(ec.value()));
    if (++c.told > 1) {
        return stage_.broken("I9", c.who + " was told twice");
    }
    std::erase_if(calls_, [&](const auto& other) { return other.get() == &c; });
    check_punctuality(c);
    if (!term) {
        if (ec != errc::closed || !by.closed) {
            check_refusal(c, ec);
        }
    } else if (ec || term.path() != by.newest) {
        stage_.broken("I9", c.who + " was told a term that is none of its own, " + term.path());
    }
}

void leader_judge::resigned(const candidacy& c) {
    stage_.tell(c.who, " resigns");
    if (c.latch->is_leader()) {
        stage_.broken("I2", c.who + " has resigned and leads");
    }
}

void leader_judge::closed(candidacy& c, leader_latch::closing how, bool by_its_end) {
    const bool silent = how == leader_latch::closing::silent;
    stage_.tell(c.who, by_its_end ? " destroys its latch" : " is closed", silent ? "" : " aloud");
    if (by_its_end) {
        c.latch = nullptr;
    } else if (c.latch->is_leader()) {
        stage_.broken("I2", c.who + " was closed and leads");
    }
    if (std::exchange(c.closed, true)) {
        return;
    }
    c.silent = silent;
    ++c.by->abandoned;
    c.by->busy_until = stage_.now();
    if (c.handle.valid()) {
        stage_.broken("I2", c.who + " was closed and its term is valid");
    }
    if (silent && c.term) {
        releases(*std::exchange(c.term, nullptr));
    }
}

bool leader_judge::idle() const {
    return judge::idle() &&
           std::all_of(candidacies_.begin(), candidacies_.end(), [](const auto& c) {
               return c->closed || c->by->closed || c->by->crashed;
           });
}

bool leader_judge::can_be_refused(const std::string& directory,
                                  const client_record& by,
                                  std::error_code why) const {
    return is_known_cause(why, by, false) ||
           (why == errc::invalid_argument && elections_.was_foreign(directory));
}

bool leader_judge::explains(const call& c, std::error_code ec) const {
    return can_be_refused(c.directory, *c.by, ec);
}

void leader_judge::refused(const candidacy& c, std::error_code why) {
    stage_.tell(c.who, " is refused: ", why.message());
    ++c.by->abandoned;  // its place, if it had one
    if (c.silent || !can_be_refused(c.directory, *c.by, why)) {
        stage_.broken("I9", c.who + " was refused without a cause: " + why.message());
    }
}

// ---- terms ----

void leader_judge::check_together() {
    for (const auto& c : candidacies_) {
        if (!c->by->paused && !c->by->crashed && !c->silent && !stage_.over()) {
            look(*c);
            check_present(*c);
        }
    }
}

void leader_judge::look(candidacy& c) {
    if (c.latch == nullptr) {
        return;
    }
    const leadership term = c.latch->leadership();
    if (term && term.path() != c.newest) {
        begin_term(c, term);
    }
}

void leader_judge::begin_term(candidacy& c, const leadership& term) {
    c.newest = term.path();
    c.handle = term;
    c.elected = false;
    ++c.terms;
    stage_.tell(c.who, " leads with ", term.fencing_token().to_string(), " as ", term.path());
    stage_.mark(static_cast<std::uint64_t>(term.fencing_token().zxid));
    if (c.closed) {
        return stage_.broken("I10", c.who + " leads after it was closed");
    }
    if (c.term) {
        return stage_.broken("I9", c.who + " leads again, and was not told of the end before");
    }
    const auto place = truth_.find(c.by->chroot + term.path());
    if (place == nullptr || !c.by->sessions.contains(place->owner)) {
        return stage_.broken("I1", c.who + " leads as what is not its own, " + term.path());
    }
    c.term = std::make_unique<held>();
    c.term->by = c.by;
    c.term->who = c.who;
    c.term->directory = c.directory;
    takes(*c.term, leader_term::of(term)->state().shared_from_this());
    check_begun(c);
}

void leader_judge::check_begun(candidacy& c) {
    const held& h = *c.term;
    const bool on_time = believes(h);
    ++(on_time ? stage_.counts.grants : stage_.counts.late_grants);
    if (!on_time && c.handle.why_lost() == loss::deadline_passed) {
        return stage_.broken("I2", c.who + " began a term whose deadline had passed before");
    }
    check_was_first(c.who, c.directory, *h.place, {});
    elections_.check_token(c.who, *h.place, h.token);
    if (on_time && h.place->how != participant::ending::taken) {
        check_order(c.who, c.directory, {}, h.token);
        elections_.check_newest(c.who, *h.place, h.token);
        check_round_trips(c);
    }
}

/// One who is in nobody's way, and whom nobody disturbs.
void leader_judge::check_round_trips(const candidacy& c) {
    const client_record& by = *c.by;
    if (!c.undisturbed || !quiet() || c.terms != 1 || by.connections != c.connections_before ||
        stage_.what.scribbles > 0) {
        return;
    }
    const std::uint64_t woken = by.wake_ups - c.wake_ups_before;
    testing::counters most;
    most.creates = 1 + levels_of(by, c.newest);
    most.children = 1 + woken;
    most.gets = 1 + 3 * woken;  // the record; whom it waits for, and itself
    most.multis = woken > 0 ? 1 : 0;
    check_asked(c.who, c.asked_before, by.asked, most);
    const bool directory_was_there = by.asked.creates == c.asked_before.creates + 1;
    if (woken == 0 && directory_was_there && stage_.what.servers.jitter == duration{}) {
        testing::counters none;
        check_asked(c.who + ", after its znode was there,", at_create_[by.session], by.asked, none);
    }
}

void leader_judge::answering(const model::connection& c, const request& r) {
    if (r.what == request::kind::create) {
        if (const client_record* const by = client_of(c.session)) {
            at_create_[c.session] = by->asked;
        }
    }
    judge::answering(c, r);
}

/// What there is to be told was told at once.
void leader_judge::check_present(const candidacy& c) {
    if (!c.term) {
        return;
    }
    const auto overdue = [&](duration since) {
        return stage_.now() > std::max(since, c.by->running_since) + 1ms;
    };
    if (!c.elected && overdue(c.term->taken_at)) {
        return stage_.broken("I9", c.who + " leads and was not told");
    }
    if (c.term->lost_at && overdue(*c.term->lost_at)) {
        return stage_.broken("I9", c.who + " does not lead any more and was not told");
    }
    // One that begins with the connection comes before that is told.
    if (c.steps_down && c.by->suspended && stage_.now() > c.term->taken_at && believes(*c.term)) {
        return stage_.broken("I2", c.who + " is suspended, wants to step down then, and leads");
    }
}

void leader_judge::elected(candidacy& c, const leadership& term) {
    stage_.tell(c.who, " is told that it leads, ", term.fencing_token().to_string());
    if (c.silent) {
        return stage_.broken("I9", c.who + " is told of a term after a silent close");
    }
    look(c);
    if (!c.term || c.elected || term.fencing_token() != c.term->token) {
        return stage_.broken("I9", c.who + " is told of a term that does not begin now");
    }
    if (!term.valid() && term.why_lost() == loss::none) {
        stage_.broken("I9", c.who + " is told of a term that is not valid yet");
    }
    c.elected = true;
}

void leader_judge::lost(candidacy& c, const leadership& term, loss why) {
    stage_.tell(c.who, " is told that it does not lead any more: ", to_string(why));
    if (c.silent || !c.term || !c.elected || term.fencing_token() != c.term->token) {
        return stage_.broken("I9", c.who + " is told of the end of a term that it does not know");
    }
    if (term.valid() || !term.lost().stop_requested()) {
        return stage_.broken("I2", c.who + " is told of the end of a term that goes on");
    }
    if (why == loss::none || why != term.why_lost() || (why == loss::suspended && !c.steps_down)) {
        stage_.broken("I9", c.who + " is told a wrong reason: " + to_string(why));
    }
    if (c.term->place->how == participant::ending::released && !c.by->closed) {
        stage_.broken("I1", c.who + " gave way before it was told of the end of its term");
    }
    releases(*std::exchange(c.term, nullptr));
}

void leader_judge::hears(second_listener& l,
                         const candidacy& c,
                         const leadership& term,
                         bool leads) {
    const fencing_token token = term.fencing_token();
    const bool in_order = leads ? token > l.newest : token == l.newest;
    if (std::exchange(l.leads, leads) == leads || !in_order || c.silent) {
        return stage_.broken("I9", c.who + " hears the wrong way round of " + token.to_string());
    }
    l.newest = token;
}

// ---- handing over ----

/// Some candidate of that name does: its znode bears the name as its data.
bool leader_judge::takes_part(const participant& place) const {
    return std::any_of(candidacies_.begin(), candidacies_.end(), [&](const auto& c) {
        return c->takes_part && c->who == elections_.id_of(place.path);
    });
}

void leader_judge::applied(const model::transaction& t, const participants& changed) {
    elections_.applied(t);
    for (const model::change& c : t.changes) {
        client_record* const by = client_of(t.session);
        if (by != nullptr && c.path.find("-peers/") != std::string::npos) {
            ++by->abandoned;  // an offer: whom it was made to is watched, also if he does not hear
        }
    }
    for (const auto& p : changed) {
        if (p->there() && p->place.behind != 0 && p->place.behind == t.zxid) {
            let_in(*p);
            for (const auto& left : changed) {
                if (!left->there() && left->owner == p->owner) {
                    left->successor = p;  // whom the leader watches
                }
            }
        }
    }
}

/// Somebody comes right behind a leader.
void leader_judge::let_in(const participant& successor) {
    ++stage_.counts.conversions;
    const auto& queue = truth_.queue_of(successor.directory);
    const auto at = queue.find(successor.place);
    if (at == queue.end() || at == queue.begin()) {
        return stage_.broken("I9", successor.path + " was let in behind nobody");
    }
    if (!takes_part(*std::prev(at)->second) || !takes_part(successor)) {
        stage_.broken("I9", successor.path + " was let in among strangers");
    }
    const auto behind = std::next(at);
    client_record* const by = behind != queue.end() ? client_of(behind->second->owner) : nullptr;
    if (by != nullptr) {
        ++by->abandoned;  // which watches the leader, and the successor too if it looks again
    }
}

void leader_judge::transferred(const candidacy& c,
                               const std::string& from,
                               std::error_code ec,
                               leader_latch::transfer what) {
    stage_.tell(c.who, "'s transfer: ", ec ? ec.message() : std::to_string(static_cast<int>(what)));
    const auto leader = truth_.find(c.by->chroot + from);
    if (ec) {
        if (ec != errc::closed || !(c.closed || c.by->closed)) {
            stage_.broken("I9", c.who + "'s transfer failed without a cause: " + ec.message());
        }
    } else if (what == leader_latch::transfer::accepted && leader->successor == nullptr) {
        stage_.broken("I9", c.who + " was told of a successor that there is not");
    } else if (what == leader_latch::transfer::not_accepted && leader->successor != nullptr &&
               leader->successor->there()) {  // else it has accepted, and has left the queue since
        stage_.broken("I9", c.who + " was told that nobody accepts, and is succeeded");
    }
}

bool leader_judge::may_watch(const std::string& path, std::int64_t) const {
    return std::any_of(queues_watched_.begin(), queues_watched_.end(), [&](const auto& directory) {
        return path.starts_with(directory + "-peers");
    });
}

bool leader_judge::empty() const {
    return judge::empty() && elections_.mailboxes() == 0;
}

void leader_judge::check_wake_ups() {
    std::erase_if(woken_, [&](const auto& entry) {
        const auto p = truth_.find(entry.first);
        return p != nullptr && p->successor != nullptr && entry.second.size() <= 2;
    });
    judge::check_wake_ups();
}

void leader_judge::check_end() {
    judge::check_end();
    elections_.check_end();
    for (const auto& c : candidacies_) {
        if (c->term && !c->by->crashed) {
            stage_.broken("I9", c->who + " was never told of the end of its term");
        }
    }
}

}  // namespace latchkey::simulation
