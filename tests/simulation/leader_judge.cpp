#include "leader_judge.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

// ---- candidates ----

void leader_judge::waited(call& c,
                          std::error_code ec,
                          const leadership& term,
                          const candidacy& by) {
    stage_.tell(c.who,
                " has waited for ",
                ec ? ec.message() : "",
                term ? "term " + term.token().to_string() : "",
                !ec && term.path().empty() ? "nothing" : "");
    stage_.mark(static_cast<std::uint64_t>(term.token().zxid) ^
                static_cast<std::uint64_t>(ec.value()));
    if (++c.told > 1) {
        return stage_.broken("I9", c.who + " was told twice");
    }
    std::erase_if(calls_, [&](const auto& other) { return other.get() == &c; });
    check_punctuality(c);
    if (term.path().empty()) {
        if (ec != errc::closed || !by.closed) {
            check_refusal(c, ec);
        }
    } else if (ec || term.path() != by.newest) {
        stage_.broken("I9", c.who + " was told a term that is none of its own, " + term.path());
    }
}

void leader_judge::resigned(candidacy& c) {
    stage_.tell(c.who, " resigns");
    c.gave_up = true;
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

bool leader_judge::explains(const call& c, std::error_code ec) const {
    return can_be_refused(c.directory, *c.by, ec);
}

// ---- terms ----

void leader_judge::check_together() {
    election_judge::check_together();
    for (const auto& c : candidacies_) {
        if (!c->by->paused && !c->by->crashed && !c->silent && !stage_.over()) {
            look(*c);
            check_present(*c);
        }
    }
    if (stage_.troubles == 0 && !stage_.over()) {
        offers_.check_mailboxes();
    }
}

void leader_judge::look(candidacy& c) {
    if (c.latch == nullptr) {
        return;
    }
    const leadership term = c.latch->term();
    if (!term.path().empty() && term.path() != c.newest) {
        begin_term(c, term);
    }
}

void leader_judge::begin_term(candidacy& c, const leadership& term) {
    c.newest = term.path();
    c.handle = term;
    c.begun = stage_.now();
    c.quiet.emplace(stage_);
    c.elected = c.gave_up = c.offered = false;
    c.asked_back.reset();
    c.asked.reset();
    ++c.terms;
    stage_.tell(c.who, " leads with ", term.token().to_string(), " as ", term.path());
    stage_.mark(static_cast<std::uint64_t>(term.token().zxid));
    if (c.closed) {
        return stage_.broken("I10", c.who + " leads after it was closed");
    }
    if (c.term) {
        return stage_.broken("I9", c.who + " leads again, and was not told of the end before");
    }
    if (!begins_term(c, term)) {
        return;
    }
    check_begun(c);
}

void leader_judge::check_begun(candidacy& c) {
    const held& h = *c.term;
    const bool on_time = believes(h);
    ++(on_time ? stage_.counts.grants : stage_.counts.late_grants);
    if (!on_time && c.handle.why_lost() == loss_reason::deadline_passed) {
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

/// A candidate that blocks no other one, and that nothing disturbs.
void leader_judge::check_round_trips(const candidacy& c) {
    const client_record& by = *c.by;
    if (!undisturbed(c)) {
        return;
    }
    const std::uint64_t woken = by.wake_ups - c.wake_ups_before;
    testing::counters most;
    most.creates = 1 + levels_of(by, c.newest);
    most.children = 1 + woken;
    most.gets = 1 + 3 * woken;  // the record; whom it waits for, and itself
    most.multis = woken > 0 ? 1 : 0;
    add_contacts(most, by, c.newest, woken);
    check_asked(c.who, c.asked_before, by.asked, most);
    const bool directory_was_there = by.asked.creates == c.asked_before.creates + 1;
    if (woken == 0 && directory_was_there && stage_.what.direct == 0 &&
        stage_.what.servers.jitter == duration{}) {
        testing::counters none;
        check_asked(c.who + ", after its znode was there,", at_create_[by.session], by.asked, none);
    }
}

void leader_judge::answering(const model::connection& c, const request& r, result_code code) {
    if (r.what == request::kind::create) {
        if (const client_record* const by = client_of(c.session)) {
            at_create_[c.session] = by->asked;
        }
    }
    judge::answering(c, r, code);
}

/// What there is to be told was told at once.
void leader_judge::check_present(candidacy& c) {
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
    // One that begins with the connection comes before that is reported.
    if (c.steps_down && c.by->suspended && stage_.now() > c.term->taken_at && believes(*c.term)) {
        return stage_.broken("I2", c.who + " is suspended, wants to step down then, and leads");
    }
    if (c.term->lost_at || !c.elected) {
        return;
    }
    if (stage_.now() > c.begun + stage_.hops(10) + 20ms && c.term->place->there() &&
        c.quiet->lasts(stage_, *c.by)) {
        elections_.check_present(c, *c.term->place);
    }
    check_handing_over(c);
}

void leader_judge::elected(candidacy& c, const leadership& term) {
    stage_.tell(c.who, " is told that it leads, ", term.token().to_string());
    if (c.silent) {
        return stage_.broken("I9", c.who + " is told of a term after a silent close");
    }
    look(c);
    if (!c.term || c.elected || term.token() != c.term->token) {
        return stage_.broken("I9", c.who + " is told of a term that does not begin now");
    }
    if (!term.valid() && term.why_lost() == loss_reason::none) {
        stage_.broken("I9", c.who + " is told of a term that is not valid yet");
    }
    c.elected = true;
}

void leader_judge::lost(candidacy& c, const leadership& term, loss_reason why) {
    stage_.tell(c.who, " is told that it does not lead any more: ", to_string(why));
    if (c.silent || !c.term || !c.elected || term.token() != c.term->token) {
        return stage_.broken("I9", c.who + " is told of the end of a term that it does not know");
    }
    if (term.valid() || !term.lost().stop_requested()) {
        return stage_.broken("I2", c.who + " is told of the end of a term that goes on");
    }
    if (why == loss_reason::none || why != term.why_lost() ||
        (why == loss_reason::suspended && !c.steps_down)) {
        stage_.broken("I9", c.who + " is told a wrong reason: " + to_string(why));
    }
    if (c.term->place->how == participant::ending::released && !c.by->closed) {
        stage_.broken("I1", c.who + " gave way before it was told of the end of its term");
    }
    if (!c.closed) {
        offers_.resigned(c, std::min(c.term->lost_at.value_or(stage_.now()), stage_.now()));
    }
    releases(*std::exchange(c.term, nullptr));
}

void leader_judge::hears(second_listener& l,
                         const candidacy& c,
                         const leadership& term,
                         bool leads) {
    const fencing_token token = term.token();
    const bool in_order = leads ? token > l.newest : token == l.newest;
    if (std::exchange(l.leads, leads) == leads || !in_order || c.silent) {
        return stage_.broken("I9", c.who + " hears the wrong way round of " + token.to_string());
    }
    l.newest = token;
}

}  // namespace latchkey::simulation
