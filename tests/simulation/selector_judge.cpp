#include "selector_judge.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

// ---- what it does ----

void selector_judge::starts(selection& c) {
    stage_.tell(c.who, " is started");
    c.started = c.was_started = true;
}

void selector_judge::runs(selection& c, const leadership& term, const std::stop_token& stop) {
    stage_.tell(c.who, " leads with ", term.token().to_string(), " as ", term.path());
    stage_.mark(static_cast<std::uint64_t>(term.token().zxid));
    if (c.term) {
        return stage_.broken("I1", c.who + "'s function runs twice at once");
    }
    if (c.closed) {
        return stage_.broken("I10", c.who + "'s function is called after it was closed");
    }
    if (!term.valid()) {
        return stage_.broken("I2", c.who + "'s function is called for a term that is over");
    }
    if (c.threw) {
        stage_.broken("I9", c.who + " leads again, and what its function threw is not reported");
    }
    if (!begins_term(c, term)) {
        return;
    }
    c.newest = term.path();
    c.handle = term;
    c.stop = stop;
    c.begun = stage_.now();
    c.gave_up = false;
    c.asked = stop.stop_requested();  // between the grant and now
    ++c.terms;
    check_begun(c);
}

void selector_judge::check_begun(selection& c) {
    const held& h = *c.term;
    ++stage_.counts.grants;
    if (h.token.zxid != h.place->czxid) {
        stage_.broken("I3", c.who + "'s token is not the czxid of its znode " + h.place->path);
    }
    check_was_first(c.who, c.directory, *h.place, {});
    if (h.place->how != participant::ending::taken) {
        check_order(c.who, c.directory, {}, h.token);
        check_round_trips(c);
    }
}

void selector_judge::check_round_trips(const selection& c) {
    if (!undisturbed(c)) {
        return;
    }
    const std::uint64_t woken = c.by->wake_ups - c.wake_ups_before;
    const std::uint64_t published = c.data.empty() ? 0 : 1;
    testing::counters most;
    most.creates = 1 + levels_of(*c.by, c.newest);
    most.children = 1 + woken;
    most.gets = 2 + woken;
    most.multis = published;
    add_contacts(most, *c.by, c.newest, woken);
    check_asked(c.who, c.asked_before, c.by->asked, most);
}

void selector_judge::returned(selection& c, bool threw) {
    stage_.tell(c.who, "'s function has returned", threw ? ", by an exception" : "");
    c.gave_up = true;
    c.threw = threw && !c.closed;
    c.started = c.requeues || threw;
    if (c.handle.valid()) {
        stage_.broken("I2", c.who + "'s function has returned, and its term is valid");
    }
    releases(*std::exchange(c.term, nullptr));
}

void selector_judge::interrupted(selection& c) {
    stage_.tell(c.who, " is interrupted");
    c.asked = c.term != nullptr;
}

void selector_judge::closed(selection& c, bool by_its_end) {
    stage_.tell(c.who, by_its_end ? " is destroyed" : " is closed");
    if (by_its_end) {
        c.campaign = nullptr;
    }
    if (std::exchange(c.closed, true)) {
        return;
    }
    c.asked = true;
    c.threw = false;
    ++c.by->abandoned;
    c.by->busy_until = stage_.now();
}

// ---- what it reports ----

void selector_judge::reported(selection& c, const std::exception_ptr& what) {
    if (c.closed) {
        return stage_.broken("I10", c.who + " reports a failure after it was closed");
    }
    try {
        std::rethrow_exception(what);
    } catch (const thrown_by_function& t) {
        stage_.tell(c.who, " reports what its function threw");
        if (t.selector != c.number || !std::exchange(c.threw, false)) {
            stage_.broken("I9", c.who + " reports what its function did not throw");
        }
    } catch (const error& e) {
        refused(c, e.code());
    }
}

void selector_judge::refused(selection& c, std::error_code why) {
    election_judge::refused(c, why);
    if (why == errc::closed && ++c.refused_closed > 1) {
        stage_.broken("I9", c.who + " reports twice that its client is closed");
    }
}

// ---- after every event ----

void selector_judge::check_together() {
    election_judge::check_together();
    for (const auto& each : candidacies_) {
        auto& c = static_cast<selection&>(*each);
        if (!c.by->crashed && !stage_.over()) {
            check_state(c);
            if (c.term && !c.by->paused) {
                check_function(c);
            }
        }
    }
}

void selector_judge::check_state(selection& c) {
    if (c.campaign == nullptr) {
        return;
    }
    const selector_status present = c.campaign->present();
    if (present == selector_status::idle && c.started) {
        stage_.broken("I9", c.who + " is idle, and its function has not returned since its start");
    } else if (present == selector_status::closed && !c.closed && c.refused_closed == 0) {
        stage_.broken("I9", c.who + " is closed, and nobody was told why");
    } else if (c.term && present != selector_status::leading) {
        stage_.broken("I9", c.who + "'s function runs, and it is " + to_string(present));
    } else if (c.term && leader_term::handle(c.campaign->term()).path() != c.newest) {
        stage_.broken("I9", c.who + " shows another term than its function has");
    }
}

void selector_judge::check_function(selection& c) {
    const auto overdue = [&](duration since) {
        return stage_.now() > std::max(since, c.by->running_since) + 1ms;
    };
    const bool asked = c.asked || c.handle.hand_over_requested().stop_requested();
    if (c.term->lost_at && overdue(*c.term->lost_at) && !c.stop.stop_requested()) {
        stage_.broken("I9", c.who + " does not lead any more, and its function is not told");
    } else if (asked && !c.stop.stop_requested()) {
        stage_.broken("I9", c.who + " is to finish, and its function is not told");
    } else if (c.stop.stop_requested() && !asked && c.handle.why_lost() == loss_reason::none) {
        stage_.broken("I9", c.who + "'s function is to return without a cause");
    } else if (c.handle.why_lost() == loss_reason::suspended && !c.steps_down) {
        stage_.broken("I2", c.who + " steps down when suspended, and does not want that");
    } else if (c.steps_down && c.by->suspended && stage_.now() > c.term->taken_at &&
               believes(*c.term)) {
        stage_.broken("I2", c.who + " is suspended, wants to step down then, and leads");
    }
}

/// Of a caller of a mutex: only if nothing else on its client sends requests.
std::optional<testing::counters> selector_judge::budget(const call& c, const hold& h) const {
    const bool alone = std::none_of(
        candidacies_.begin(), candidacies_.end(), [&](const auto& o) { return o->by == c.by; });
    return alone && !observers_.observed(*c.by) && stage_.what.strangers <= 0 ? judge::budget(c, h)
                                                                              : std::nullopt;
}

void selector_judge::check_end() {
    election_judge::check_end();
    for (const auto& each : candidacies_) {
        const auto& c = static_cast<const selection&>(*each);
        if (c.by->crashed || stage_.over()) {
            continue;
        }
        if (c.threw) {
            stage_.broken("I9", c.who + " never reported what its function threw");
        } else if (c.was_started && !c.closed && c.refused_closed == 0) {
            stage_.broken("I9", c.who + " never reported that its client is closed");
        }
    }
}

}  // namespace latchkey::simulation
