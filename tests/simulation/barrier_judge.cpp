#include "barrier_judge.hpp"

#include <latchkey/error.hpp>

#include "ensemble/connection.hpp"

#include <algorithm>
#include <chrono>

namespace latchkey::simulation {

using namespace std::chrono_literals;

// ---- what is written down ----

void barrier_judge::applied(const model::transaction& t, const participants& changed) {
    using enum model::change::kind;
    check_robbed(t, changed);
    for (const model::change& c : t.changes) {
        if (c.what == create) {
            standing_.insert(c.path);
            stage_.counts.rounds += c.path.ends_with("/ready") ? 1U : 0U;
        } else if (c.what == remove) {
            standing_.erase(c.path);
        }
    }
}

std::size_t barrier_judge::begins_turn(const call& c, deed what, const std::string& data) {
    return told_->begins(c.by->number, {.locks = {c.directory}, .what = what}, data);
}

void barrier_judge::told(
    call& c, std::size_t turn, std::error_code ec, bool reached, std::optional<bool> inside) {
    if (!ends(c, ec, reached)) {
        return;
    }
    history::turn& t = told_->turn(turn);
    if (!reached && !ec && !c.stopped && t.asked.what > deed::look) {
        return stage_.broken("I9", c.who + " was told nothing");
    }
    (reached ? t.granted : t.ended) = told_->moment();
    t.entered = answer_of(c, ec);
    t.entered->inside = reached && c.by->closed ? std::nullopt : inside;
    // A place that could not be given up within a second may have been counted on.
    const duration since = c.tries() ? c.begun : due(c).value_or(c.begun);
    if (!reached && stage_.now() >= since + c.by->lasting(1s)) {
        t.entered->session = 0;
    }
    if (reached && inside) {
        inside_.emplace(turn, c.by);
    }
    if (t.asked.what <= deed::look) {
        stage_.counts.grants += reached ? 1U : 0U;
        if (reached || told_->is_of(history::layout::barrier)) {
            check_cost(c);
        }
    }
}

void barrier_judge::left(
    call& c, std::size_t turn, std::error_code ec, bool reached, std::optional<bool> inside) {
    outside(turn);
    if (!ends(c, ec, reached)) {
        return;
    }
    history::turn& t = told_->turn(turn);
    t.ended = told_->moment();
    t.all_left = reached;
    t.left = answer_of(c, ec);
    t.left->inside = inside;
    stage_.counts.losses += ec == errc::participant_lost ? 1U : 0U;
    if (reached) {
        check_cost(c);
    }
}

/// With the session, if it goes on for the servers and for the client.
history::answer barrier_judge::answer_of(const call& c, std::error_code ec) const {
    using enum history::answer::failure;
    const auto all = stage_.servers.sessions();
    const bool goes_on = !c.by->lost && !stage_.what.uses(fault::session_replaced) &&
                         std::any_of(all.begin(), all.end(), [&](const auto& s) {
                             return s.id == c.by->session && s.alive;
                         });
    return {.failed = ec == errc::participant_lost ? participant_lost
                      : ec == errc::session_lost   ? session_lost
                      : ec                         ? other
                      : c.stopped                  ? canceled
                                                   : none,
            .session = goes_on ? c.by->session : 0};
}

// ---- what is checked at once ----

/// Whoever is inside has to leave yet.
bool barrier_judge::idle() const {
    return judge::idle() && std::all_of(inside_.begin(), inside_.end(), [](const auto& one) {
               return one.second->crashed || one.second->closed;
           });
}

bool barrier_judge::explains(const call&, std::error_code ec) const {
    return told_->is_of(history::layout::rounds)
               ? ec == errc::participant_lost || ec == errc::session_lost  // of leave()
               : ec == errc::not_empty && stage_.what.uses(fault::foreign_child);
}

/// Of a call that disturbs nobody else, and that nothing disturbs.
void barrier_judge::check_cost(const call& c) {
    const client_record& by = *c.by;
    if (!c.undisturbed || !quiet() || by.connections != c.connections_before ||
        by.calls != c.calls_before) {
        return;
    }
    const std::uint64_t woken = by.wake_ups - c.wake_ups_before;
    testing::counters most;
    if (told_->is_of(history::layout::barrier)) {
        most.gets = 1 + woken;
        most.syncs = 1;
        most.multis = 1;
    } else {
        // A participant that keeps watch in the place of one that has gone looks twice.
        const auto& all = truth_.history_of(c.directory);
        const auto gone =
            static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [&](const auto& p) {
                return !p.second->there() && p.second->ended >= c.begun;
            }));
        most.creates = 1 + levels_of(by, c.directory + "/child");
        most.children = 2 + woken + gone;
        most.gets = 6 + 4 * woken + 2 * gone;
        most.multis = 2 + woken;
    }
    check_asked(c.who, c.asked_before, by.asked, most);
}

}  // namespace latchkey::simulation
