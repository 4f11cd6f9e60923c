#include "double_barrier_judge.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void double_barrier_judge::received(const model::connection& c, const model::packet& p) {
    meeting_judge::received(c, p);
    if (p.what == model::packet::kind::request && p.body.what == request::kind::create) {
        rounds_.asked(p.body.path, p.asked.time_since_epoch() - stage_.begun);
    }
}

// ---- entering ----

void double_barrier_judge::entered(call& c, attender& a, std::error_code ec, bool reached) {
    if (!ends(c, ec, reached)) {
        return;
    }
    if (reached) {
        ++stage_.counts.grants;
        find_round(c, a);
    } else if (!ec) {
        check_not_counted_on(c, a);
    }
    const bool there =
        a.place != nullptr && a.place->there() && a.place->owner == a.by->session && !a.by->closed;
    if (a.barrier != nullptr && (reached ? there && !a.barrier->inside() : a.barrier->inside())) {
        stage_.broken("I9", c.who + (reached ? " is not inside" : " is inside all the same"));
    }
}

/// Its znode, if that was created for this call, and not late for one before.
bool double_barrier_judge::created_by(const participant& p,
                                      const call& c,
                                      const attender& a) const {
    return double_barrier_log::is_ours(p) && rounds_.data_of(p) == a.data &&
           rounds_.asked_for(p) >= c.begun;
}

void double_barrier_judge::find_round(const call& c, attender& a) {
    // An earlier one may have begun with a znode of a session that was lost since.
    const auto& all = rounds_.rounds_of(a.directory);
    for (auto r = all.rbegin(); r != all.rend(); ++r) {
        for (const auto& p : (*r)->members) {
            if (created_by(*p, c, a) && (*r)->known.insert(p->path).second) {
                a.in = *r;
                a.place = p;
                check_requests(c, a);
                return;
            }
        }
    }
    stage_.broken("I1", c.who + " has entered, and no round has begun with it");
}

/// Whose place could not be given up within a second may have been counted on. So may who finds
/// nothing that tells of his round, because the operator has taken it away.
void double_barrier_judge::check_not_counted_on(const call& c, const attender& a) {
    const duration since = c.tries() ? c.begun : due(c).value_or(c.begun);
    if (stage_.now() >= since + c.by->lasting(1s)) {
        return;
    }
    for (const auto& r : rounds_.rounds_of(a.directory)) {
        for (const auto& p : r->members) {
            if (!r->meddled && created_by(*p, c, a) && goes_on(*p, *a.by) &&
                (p->there() || p->how == participant::ending::released)) {
                stage_.broken("I9", c.who + " was told no, and a round counts on " + p->path);
            }
        }
    }
}

/// Its session does, for the servers and the client.
bool double_barrier_judge::goes_on(const participant& p, const client_record& by) const {
    const auto all = stage_.servers.sessions();
    return p.owner == by.session && !by.lost && !stage_.what.uses(fault::session_replaced) &&
           std::any_of(
               all.begin(), all.end(), [&](const auto& s) { return s.id == p.owner && s.alive; });
}

// ---- leaving ----

void double_barrier_judge::left(call& c, attender& a, std::error_code ec, bool reached) {
    if (!ends(c, ec, reached)) {
        return;
    }
    if (reached) {
        check_all_have_left(a);
        check_requests(c, a);
    } else if (ec == errc::participant_lost) {
        ++stage_.counts.losses;
        check_loss(a);
    } else if (ec == errc::session_lost && a.place->there() && goes_on(*a.place, *a.by)) {
        stage_.broken("I9", c.who + " was told of the end of a session that goes on");
    }
    a.in = nullptr;
    a.place = nullptr;
    if (a.barrier != nullptr && a.barrier->inside()) {
        stage_.broken("I9", c.who + " has left and is inside");
    }
}

bool double_barrier_judge::explains(const call&, std::error_code ec) const {
    return ec == errc::participant_lost || ec == errc::session_lost;  // of leave(): judged there
}

void double_barrier_judge::check_all_have_left(const attender& a) {
    if (a.in->meddled) {
        return;
    }
    const bool may_miss_a_loss = a_later_one_has_begun(a);
    for (const auto& p : a.in->members) {
        if (p->there()) {
            stage_.broken("I2", a.who + " has left, and " + p->path + " is inside");
        } else if (!may_miss_a_loss && double_barrier_log::is_ours(*p) &&
                   !rounds_.left_by_itself(*p)) {
            stage_.broken("I2", a.who + " was not told that " + p->path + " was lost");
        }
    }
}

bool double_barrier_judge::lost_somebody(const barrier_round_record& r) const {
    return std::any_of(r.members.begin(), r.members.end(), [&](const auto& p) {
        return !p->there() && !rounds_.left_by_itself(*p);
    });
}

/// Who looks then is not told of a loss.
bool double_barrier_judge::a_later_one_has_begun(const attender& a) const {
    const auto& all = rounds_.rounds_of(a.directory);
    return std::any_of(all.begin(), all.end(), [&](const auto& r) { return r->zxid > a.in->zxid; });
}

void double_barrier_judge::check_loss(const attender& a) {
    if (!a.in->meddled && !lost_somebody(*a.in)) {
        stage_.broken("I2", a.who + " was told of a loss, and nobody was lost");
    }
}

// ---- what they cost ----

/// Of one who disturbs nobody else, and whom nothing disturbs.
void double_barrier_judge::check_requests(const call& c, const attender& a) {
    const client_record& by = *a.by;
    if (!c.undisturbed || !quiet() || by.connections != c.connections_before ||
        by.calls != c.calls_before) {
        return;
    }
    const std::uint64_t woken = by.wake_ups - c.wake_ups_before;
    // Who keeps watch in place of one who has gone looks twice.
    const std::uint64_t gone = rounds_.gone_since(a.directory, c.begun);
    testing::counters most;
    most.creates = 1 + levels_of(by, a.place->path);
    most.children = 2 + woken + gone;
    most.gets = 6 + 4 * woken + 2 * gone;
    most.multis = 2 + woken;
    check_asked(c.who, c.asked_before, by.asked, most);
}

// ---- the end ----

bool double_barrier_judge::can_begin(const std::string& directory) const {
    return truth_.queue_of(directory).size() >= stage_.what.wanted;
}

bool double_barrier_judge::idle() const {
    return judge::idle() && std::all_of(attenders_.begin(), attenders_.end(), [](const auto& a) {
               return a->in == nullptr || a->barrier == nullptr || a->by->crashed || a->by->closed;
           });
}

void double_barrier_judge::check_end() {
    judge::check_end();
    for (const std::string& directory : queues_watched_) {
        const auto& rounds = rounds_.rounds_of(directory);
        if (rounds_.is_on(directory) && quiet() && !lost_somebody(*rounds.back())) {
            stage_.broken("I5", "what tells of a round is left behind in " + directory);
        }
    }
}

}  // namespace latchkey::simulation
