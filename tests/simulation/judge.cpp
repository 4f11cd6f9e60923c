#include "judge.hpp"

#include "ensemble/cluster.hpp"
#include "hold/hold_state.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

// What programs do and are told.

namespace latchkey::simulation {

using namespace std::chrono_literals;

namespace {

std::set<std::string> directories_of(const plan& p) {
    std::set<std::string> found;
    for (const plan::client& c : p.clients) {
        for (const plan::object& o : c.objects) {
            const auto all = o.directories();
            found.insert(all.begin(), all.end());
        }
    }
    return found;
}

}  // namespace

judge::judge(stage& s, std::optional<history::layout> l)
    : stage_(s),
      truth_(s.recipe.names(), directories_of(s.what)),
      turns_(s, truth_),
      queues_watched_(directories_of(s.what)),
      asks_(s.random("judge").chance(0.5)) {
    if (l) {
        told_.emplace(s, *l);
    }
}

bool judge::quiet() const {
    return directories_removed_ == 0 && std::all_of(stage_.counts.faults.begin(),
                                                    stage_.counts.faults.end(),
                                                    [](std::uint64_t count) { return count == 0; });
}

client_record* judge::client_of(std::int64_t session) const {
    const auto found = clients_.find(session);
    return found == clients_.end() ? nullptr : found->second.get();
}

// ---- acquiring ----

void judge::begins(const std::shared_ptr<call>& c) {
    client_record& by = *c->by;
    ++stage_.counts.calls;
    c->begun = stage_.now();
    c->pauses_before = by.pauses;
    c->connections_before = by.connections;
    c->calls_before = ++by.calls;
    c->wake_ups_before = by.wake_ups;
    c->asked_before = by.asked;
    const bool alone = std::none_of(
        calls_.begin(), calls_.end(), [&](const auto& other) { return other->by == c->by; });
    c->undisturbed = alone && by.holds == 0 && by.session != 0 && by.objects == 1 &&
                     c->times.min_hold == duration{} && c->begun - by.busy_until > 100ms;
    calls_.push_back(c);
    stage_.tell(c->who,
                " acquires ",
                c->directory,
                c->directories.size() > 1 ? " and others" : "",
                to_string(c->what),
                c->limit ? " within " + std::to_string(*c->limit / 1ms) + " ms" : "");
}

void judge::told(call& c, std::error_code ec, const hold& h) {
    stage_.tell(c.who,
                " is told ",
                ec ? ec.message() : "",
                h ? "hold " + h.token().to_string() + (h.valid() ? "" : ", lost") : "",
                !ec && is_empty(h) ? "nothing" : "");
    stage_.mark(static_cast<std::uint64_t>(h.token().zxid) ^
                static_cast<std::uint64_t>(ec.value()));
    if (++c.told > 1) {
        return stage_.broken("I9", c.who + " was told twice");
    }
    std::erase_if(calls_, [&](const auto& other) { return other.get() == &c; });
    c.by->busy_until = stage_.now();
    check_punctuality(c);
    if (!is_empty(h)) {
        check_grant(c, h);
    } else {
        c.by->abandoned += c.places;
        check_refusal(c, ec);
        check_was_in_a_queue(c, ec);
    }
    if (ec && !is_empty(h)) {
        stage_.broken("I9", c.who + " was told an error together with a hold");
    }
}

void judge::check_grant(const call& c, const hold& h) {
    const participants places = places_of(*c.by, h.paths());
    for (const auto& place : places) {
        if (place == nullptr) {
            return stage_.broken("I1", c.who + " was granted what nobody created, " + h.path());
        }
        if (!c.by->sessions.contains(place->owner)) {
            return stage_.broken(
                "I1", c.who + " was granted the place of another session, " + place->path);
        }
    }
    check_token(c, h, places);
    const bool on_time = h.valid();
    ++(on_time ? stage_.counts.grants : stage_.counts.late_grants);
    stage_.counts.unlisted += c.by->asked.children == c.by->lists_before ? 1U : 0U;
    c.by->lists_before = c.by->asked.children;
    if (!on_time && h.why_lost() == loss_reason::deadline_passed &&
        c.by->pauses == c.pauses_before) {
        return stage_.broken("I2", c.who + " was told a hold whose deadline had passed before");
    }
    check_first(c, places);
    for (const auto& place : places) {
        check_delays(c.who, *place);
    }
    check_callers(c);
    check_turn(c, *places.front(), h.token());
    const bool taken = std::any_of(places.begin(), places.end(), [](const auto& place) {
        return place->how == participant::ending::taken;
    });
    if (!on_time || taken) {
        return;
    }
    for (const auto& place : places) {
        check_order(c.who, place->directory, c.what, h.token());
    }
    check_budget(c, h);
}

participants judge::places_of(const client_record& by,
                              const std::vector<std::string>& paths) const {
    participants all;
    for (const std::string& path : paths) {
        all.push_back(truth_.find(by.chroot + path));
    }
    return all;
}

void judge::check_token(const call& c, const hold& h, const participants& places) {
    if (places.size() != 1 || places.front()->czxid != h.token().zxid) {
        stage_.broken("I3", c.who + "'s token is not the czxid of its znode " + h.path());
    }
}

void judge::check_order(const std::string& who,
                        const std::string& directory,
                        const wish&,
                        fencing_token token) {
    fencing_token& last = granted_[directory];
    if (token <= last) {
        return stage_.broken(
            "I3", who + " was granted " + token.to_string() + " after " + last.to_string());
    }
    last = token;
}

void judge::check_refusal(const call& c, std::error_code ec) {
    if (!ec) {
        if (!c.limit && !c.stopped) {
            stage_.broken("I9", c.who + " was told nothing, and did not ask for that");
        }
        return;
    }
    const bool answered = c.limit && (ec == errc::not_acquired || ec == errc::protocol);
    if (answered && !was_refused(c)) {
        stage_.broken("I9", c.who + " was told of a refusal that no server gave: " + ec.message());
    }
    if (answered || ec == errc::unreachable) {
        return check_unreachable(c);
    }
    if (!is_known_cause(ec, *c.by, c.tries()) && !explains(c, ec)) {
        stage_.broken("I9", c.who + " was told an error without a cause: " + ec.message());
    }
}

/// A server has refused a request, and the client may have heard of it since the call began: its
/// connection does not outlive a silence that is as long as the timeout, unless it was stopped.
bool judge::was_refused(const call& c) const {
    const duration on_the_way =
        c.by->pauses == c.pauses_before ? c.by->lasting(c.by->timeout) : c.begun;
    return c.by->refused_at &&
           std::max(*c.by->refused_at, c.by->running_since) + on_the_way >= c.begun;
}

/// No answer came in time, and the caller has not canceled before. What a client was to tell when
/// it was stopped, it tells afterwards.
void judge::check_unreachable(const call& c) {
    if (!c.limit) {
        return stage_.broken("I9", c.who + " had all the time, and was told of no server");
    }
    const duration end = c.tries() ? c.begun + c.by->lasting(c.by->patience) : c.ends();
    const bool resumed =
        c.stopped && c.by->running_since + 20ms > *c.stopped && c.by->pauses != c.pauses_before;
    if (c.stopped && *c.stopped + 20ms < end && !resumed) {
        return stage_.broken("I9", c.who + " was told an error after it had canceled");
    }
    if (quiet() && c.undisturbed && c.by->connections == c.connections_before &&
        end - c.begun > stage_.hops(8)) {
        stage_.broken("I9", c.who + " was told of no server, and nothing was in its way");
    }
}

/// A call that ends without a hold was in a queue before.
void judge::check_was_in_a_queue(const call& c, std::error_code ec) {
    if (ec || !c.limit || c.tries() || c.stopped || !c.undisturbed ||
        stage_.what.uses(fault::sequence_ended)) {
        return;  // at its end, a number that a server gave is no place
    }
    for (const std::string& directory : c.directories) {
        for (const auto& [place, p] : truth_.history_of(directory)) {
            if (c.by->sessions.contains(p->owner) && (p->there() || p->ended >= c.begun)) {
                return;
            }
        }
    }
    stage_.broken("I9", c.who + " was told nothing, and never was in the queue");
}

/// Of an error that a caller was told; `at_once`: it did not want to wait.
bool judge::is_known_cause(std::error_code ec, const client_record& by, bool at_once) const {
    const plan& p = stage_.what;
    return (ec == errc::closed && by.closed) || (ec == errc::unreachable && at_once) ||
           (ec == errc::not_acquired && at_once) ||
           (ec == errc::protocol &&
            (p.uses(fault::refused_unknown) || p.uses(fault::answered_unknown))) ||
           (ec == errc::not_authorized && p.uses(fault::access_taken)) ||
           (ec == errc::sequence_exhausted &&
            (p.uses(fault::sequence_ended) || p.uses(fault::foreign_child))) ||
           (ec == errc::malformed_participant && p.uses(fault::foreign_child));
}

/// A limit and a cancellation are kept, up to the second that the proof of an end may take.
void judge::check_punctuality(const call& c) {
    const duration farewell = c.by->lasting(1s) + 20ms;
    if (c.by->pauses != c.pauses_before || c.by->paused) {
        return;
    }
    std::optional<duration> due;
    if (c.limit) {
        due = *c.limit > duration{} ? c.ends() : c.begun + c.by->lasting(c.by->timeout);
    }
    if (c.stopped && (!due || *c.stopped < *due)) {
        due = c.stopped;
    }
    if (due && stage_.now() > *due + farewell) {
        stage_.broken("I8",
                      c.who + " was told " + std::to_string((stage_.now() - *due) / 1ms) +
                          " ms after it was due");
    }
}

// ---- holding ----

void judge::takes(held& h) {
    takes(h, hold_state::of(*h.what));
}

void judge::takes(held& h, const std::shared_ptr<hold_state>& state) {
    h.others = places_of(*h.by, state->paths());
    h.place = h.others.front();
    if (h.place->handed_on) {
        stage_.broken("I4", h.who + " was granted a place that was handed on, " + h.place->path);
    }
    h.others.erase(h.others.begin());
    h.state = state;
    h.token = state->token();
    h.taken_at = stage_.now();
    h.troubles_before = stage_.troubles;
    h.disturbances_before = stage_.disturbances;
    note_times(h);
    for (const held* const other : holds_) {
        if (stage_.recipe.one_at_a_time() && other->by == h.by && other->object == h.object &&
            !is_over(*other)) {
            stage_.broken("I1", h.who + " was granted what " + other->who + " has not released");
        }
    }
    ++h.by->holds;
    holds_.push_back(&h);
}

void judge::releases(held& h) {
    const auto state = h.what != nullptr ? hold_state::of(*h.what) : h.state.lock();
    const bool was_lost = state->why_lost() != loss_reason::none;
    stage_.tell(h.who,
                " releases ",
                h.token.to_string(),
                was_lost ? std::string(", lost: ") + to_string(state->why_lost()) : "");
    stage_.counts.losses += was_lost ? 1U : 0U;
    note_early(h, state->why_lost());
    losses_.push_back({h.by, h.who, state->lost(), was_lost});
    --h.by->holds;
    h.by->busy_until = stage_.now();
    std::erase(holds_, &h);
    released(h);
}

/// An effect on a resource outside, which refuses old tokens.
void judge::acts(const held& h) {
    if (!orders(h)) {
        ++stage_.counts.effects;
        return;
    }
    fencing_token& seen = outside_[h.directory];
    if (h.token >= seen) {
        seen = h.token;
        ++stage_.counts.effects;
        return;
    }
    ++stage_.counts.fenced_off;
    stage_.tell(h.who, " is fenced off with ", h.token.to_string());
    const bool whole = std::all_of(
        h.others.begin(), h.others.end(), [](const auto& other) { return other->there(); });
    if (believes(h) && h.place->there() && whole) {
        stage_.broken("I3", h.who + " is valid and was fenced off");
    }
}

std::uint64_t judge::deals(deal d) {
    d.begun = stage_.now();
    stage_.tell(
        "transaction ", deals_.size(), " of ", d.who, d.once ? " is sent once" : " is sent");
    deals_.push_back(std::move(d));
    return deals_.size() - 1;
}

void judge::deal_committed(const model::transaction& t, const std::string& data) {
    std::uint64_t number = 0;
    std::istringstream(data) >> number;
    deal& d = deals_.at(number);
    stage_.tell("transaction ", number, " of ", d.who, " is committed as ", t.zxid);
    ++stage_.counts.transactions;
    fencing_token& last = committed_[d.directory];
    if (d.committed) {
        stage_.broken("I3", d.who + "'s transaction was committed twice");
    } else if (d.refused) {
        stage_.broken("I9", d.who + "'s transaction was committed after it was told as refused");
    } else if (d.ordered && d.token < last) {
        stage_.broken("I3", d.who + "'s transaction was committed after one of a later holder");
    }
    for (const auto& place : d.places) {
        if (place != nullptr && !place->there()) {
            stage_.broken(
                "I3", d.who + "'s transaction was committed after " + place->path + " was gone");
        }
    }
    d.committed = true;
    if (d.ordered) {
        written_[d.directory] = {d.token, t.zxid};
        last = d.token;
    }
}

void judge::told(std::uint64_t deal_number, std::error_code ec, bool applied) {
    deal& d = deals_[deal_number];
    stage_.tell("transaction ", deal_number, " of ", d.who, ": ", ec.message());
    if (++d.told > 1) {
        return stage_.broken("I9", d.who + " was told twice of a transaction");
    }
    if (!ec && !d.committed) {
        return stage_.broken("I9", d.who + " was told of success, and nothing was committed");
    }
    if (!ec && !applied) {
        return stage_.broken("I9", d.who + " was told that another one applied its transaction");
    }
    const bool known = d.once && ec && ec != errc::indeterminate;
    if (known || ec == errc::hold_lost) {
        d.refused = true;
        ++stage_.counts.refused_transactions;
        if (d.committed) {
            stage_.broken("I9", d.who + " was told of a refusal, and it was committed");
        }
    }
    const bool stayed_away =
        d.by->closed || d.by->crashed || stage_.now() - d.begun >= d.by->lasting(d.by->patience);
    if (d.once && ec == errc::indeterminate && !stayed_away) {
        stage_.broken("I9", d.who + " was not told the outcome of a transaction");
    }
    // A code without a word (`protocol`) leaves the outcome open as well.
    if (ec && ec != errc::hold_lost && ec != errc::unreachable && ec != errc::indeterminate &&
        ec != errc::protocol && ec != errc::session_lost && ec != errc::closed) {
        stage_.broken("I9", d.who + "'s transaction failed without a cause: " + ec.message());
    }
}

}  // namespace latchkey::simulation
