#include "rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::history {
namespace {

using rule = violation::rule;

/// As the servers have it.
struct round {
    std::int64_t zxid = 0;
    nanoseconds began{};
    std::vector<const participant*> members{};
    /// When an operator took away what tells of it, or the directory of it or of one before (N14).
    nanoseconds meddled = nanoseconds::max();
};

bool was_there(const participant& p, nanoseconds at) {
    return p.born <= at && (!p.gone || *p.gone > at);
}

/// The rounds of one barrier, and the calls of its participants, judged one after the other.
class barrier {
public:
    barrier(const evidence& e, const std::string& path, const queue& all, verdict& v)
        : evidence_(e), path_(path), all_(all), verdict_(v) {
        for (const transaction& entry : e.all().transactions) {
            for (const znode_change& change : entry.changes) {
                follow(entry, change);
            }
        }
    }

    void check(const turn& t) {
        if (t.left && t.left->inside == true) {
            add(rule::told, *t.ended, evidence_.name(t) + " has left and is inside");
        }
        if (!t.granted) {
            return check_refused(t);
        }
        ++verdict_.grants;
        const auto [r, place] = round_of(t);
        if (r == nullptr) {
            return add(rule::round,
                       *t.granted,
                       evidence_.name(t) +
                           " has entered, and was in no round that had begun since " +
                           evidence_.when(t.invoked));
        }
        if (t.entered && t.entered->inside == false && was_there(*place, *t.granted) &&
            place->session == t.entered->session) {
            add(rule::told, *t.granted, evidence_.name(t) + " is not inside");
        }
        check_entered(t, *r);
        if (t.leaving && t.ended) {
            check_left(t, *r, *place);
        }
    }

    /// Enough are there, and no round begins.
    void check_beginnings() {
        const nanoseconds end = evidence_.all().end;
        if (evidence_.quiet().time(evidence_.start(), end, {}) <= evidence_.expected().patience) {
            return;  // nobody can have waited for so long
        }
        std::vector<nanoseconds> moments{end};
        for (const round& r : rounds_) {
            moments.push_back(r.began);
        }
        for (const participant& p : all_) {
            moments.push_back(p.born);
            if (p.gone) {
                moments.push_back(*p.gone);
            }
        }
        std::sort(moments.begin(), moments.end());
        std::optional<nanoseconds> since;
        for (const nanoseconds at : moments) {
            if (since) {
                check_late(*since, at, {}, path_ + ": enough were there, and no round began");
            }
            const bool enough = static_cast<std::size_t>(std::count_if(
                                    all_.begin(), all_.end(), [&](const participant& p) {
                                        return was_there(p, at) && !in_a_round(p, at);
                                    })) >= evidence_.all().limit;
            since = enough ? since.value_or(at) : std::optional<nanoseconds>();
        }
    }

    /// What tells of a round stays only if it has lost a member.
    void check_what_stays() {
        const history& h = evidence_.all();
        if (on_ && h.disturbances.empty() && !lost_somebody(rounds_.back(), h.end)) {
            add(rule::orphan, h.end, "what tells of a round is left behind");
        }
    }

private:
    using enum answer::failure;

    void add(rule which, nanoseconds at, const std::string& text) {
        verdict_.violations.push_back({which, path_ + ", " + evidence_.when(at) + ": " + text, at});
    }

    void check_late(nanoseconds since,
                    nanoseconds until,
                    std::optional<int> worker,
                    const std::string& text) {
        if (evidence_.quiet().time(since, until, worker) > evidence_.expected().patience) {
            add(rule::lost_wakeup, until, text + ", since " + evidence_.when(since));
        }
    }

    // ---- the servers' log ----

    void follow(const transaction& entry, const znode_change& change) {
        const nanoseconds at = time_of(evidence_.all(), entry);
        const bool removed = change.what == znode_change::kind::removed;
        if (change.path == path_ + "/ready" && change.what == znode_change::kind::created) {
            begin(entry, at, change.data);
        } else if (change.path == path_ + "/ready" && removed) {
            clear_away(entry, at);
        } else if (change.path == path_ && removed) {
            for (round& r : rounds_) {
                r.meddled = std::min(r.meddled, at);
            }
        } else if (change.path == path_ && change.what == znode_change::kind::changed) {
            counted_.insert(entry.zxid);
        }
    }

    /// S28: A round begins while enough participants are there, all of them at once, and while no
    /// participant is in an earlier one. Its members are written there; whoever has come meanwhile
    /// is none of them.
    void begin(const transaction& entry, nanoseconds at, const std::string& written) {
        const auto json = nlohmann::json::parse(written, nullptr, false);
        if (!json.is_object() || !json.contains("members")) {
            return add(rule::told, at, "a round has no list of its members: " + written);
        }
        const auto names = json.at("members").get<std::set<std::string>>();
        round r{.zxid = entry.zxid, .began = at};
        for (const participant& p : all_) {
            const bool named = names.contains(p.znode.substr(path_.size() + 1));
            if (named && p.born_zxid < r.zxid && p.gone_zxid > r.zxid) {
                r.members.push_back(&p);
            }
        }
        if (r.members.size() < std::max<std::size_t>(names.size(), evidence_.all().limit)) {
            add(rule::round,
                at,
                "a round began with " + std::to_string(r.members.size()) +
                    " participants: " + written);
        }
        for (const round& earlier : rounds_) {
            check_gone(
                earlier, entry, at, "a round began with a member of an earlier one inside, ");
        }
        rounds_.push_back(std::move(r));
        on_ = true;
    }

    /// S28: A round is on until all of its members have left.
    void clear_away(const transaction& entry, nanoseconds at) {
        if (!std::exchange(on_, false)) {
            return;
        }
        round& over = rounds_.back();
        if (entry.session == 0 || was_in_a_meddled_round(entry.session, at)) {
            over.meddled = std::min(over.meddled, at);
        }
        check_gone(over, entry, at, "a round was cleared away with a member inside, ");
    }

    void check_gone(const round& r, const transaction& by, nanoseconds at, const char* what) {
        for (const participant* p : r.members) {
            if (p->gone_zxid > by.zxid && r.meddled > at) {
                add(rule::round, at, what + p->znode);
            }
        }
    }

    /// A transaction cannot check which directory of a name it changes: a member of a round of the
    /// one that the operator deleted may clear away the first round of the next one (N14). The next
    /// round then begins while some are in that one, and they do the same when they leave.
    [[nodiscard]] bool was_in_a_meddled_round(std::int64_t session, nanoseconds at) const {
        return std::any_of(rounds_.begin(), rounds_.end(), [&](const round& r) {
            return r.meddled <= at && std::any_of(r.members.begin(), r.members.end(), [&](auto* p) {
                       return p->session == session;
                   });
        });
    }

    /// A leave counts in the directory.
    [[nodiscard]] bool left_by_itself(const participant& p) const {
        return !p.expired && counted_.contains(p.gone_zxid);
    }

    [[nodiscard]] bool lost_somebody(const round& r, nanoseconds until) const {
        return std::any_of(r.members.begin(), r.members.end(), [&](const participant* p) {
            return p->gone && *p->gone <= until && !left_by_itself(*p);
        });
    }

    /// Those who have not left theirs count for no other one.
    [[nodiscard]] bool in_a_round(const participant& p, nanoseconds at) const {
        return std::any_of(rounds_.begin(), rounds_.end(), [&](const round& r) {
            const bool over = std::all_of(r.members.begin(), r.members.end(), [&](const auto* m) {
                return m->gone && *m->gone <= at;
            });
            return r.began <= at && !over && p.born <= at;
        });
    }

    // ---- entering ----

    /// S28: A participant that has entered is in a round that counts on it, by a place that it took
    /// for this call and that no other call has entered by.
    [[nodiscard]] std::pair<const round*, const participant*> round_of(const turn& t) {
        const nanoseconds precision = evidence_.expected().precision;
        for (auto r = rounds_.rbegin(); r != rounds_.rend(); ++r) {
            if (r->began > *t.granted + precision || r->began + precision < t.invoked) {
                continue;
            }
            for (const participant* p : r->members) {
                if (t.znodes.empty()
                        ? evidence_.worker_of(*p) == t.worker
                        : evidence_.turn_of(*p) == &t && entered_by_.insert(p).second) {
                    return {&*r, p};
                }
            }
        }
        return {};
    }

    void check_entered(const turn& t, const round& r) {
        const nanoseconds since = std::max(r.began, t.invoked);
        check_late(since, *t.granted, t.worker, evidence_.name(t) + " entered late");
        if (evidence_.quiet().undisturbed(since, *t.granted)) {
            verdict_.hand_over.values.push_back(std::max(nanoseconds(0), *t.granted - since));
        }
    }

    /// S28: No round counts on a participant that was told no, while its session goes on.
    void check_refused(const turn& t) {
        if (!t.entered || !t.ended) {
            return;
        }
        if (t.entered->inside == true) {
            add(rule::told, *t.ended, evidence_.name(t) + " is inside all the same");
        }
        for (const round& r : rounds_) {
            for (const participant* p : r.members) {
                const bool held = !p->gone || *p->gone > *t.ended || (!p->expired && !p->robbed);
                if (t.entered->failed <= canceled && held && p->session == t.entered->session &&
                    evidence_.turn_of(*p) == &t && r.began <= *t.ended && r.meddled > *t.ended) {
                    add(rule::told,
                        *t.ended,
                        evidence_.name(t) + " was told no, and a round counts on " + p->znode);
                }
            }
        }
    }

    // ---- leaving ----

    void check_left(const turn& t, const round& r, const participant& place) {
        if (t.all_left && r.meddled > *t.ended) {
            check_all_have_left(t, r);
        }
        // L9: A loss is told only if there was one, of a member or of the own session.
        if (t.left && t.left->failed == participant_lost && r.meddled > *t.ended &&
            !lost_somebody(r, *t.ended)) {
            add(rule::farewell,
                *t.ended,
                evidence_.name(t) + " was told of a loss, and nobody was lost");
        }
        if (t.left && t.left->failed == session_lost && was_there(place, *t.ended) &&
            place.session == t.left->session) {
            add(rule::told,
                *t.ended,
                evidence_.name(t) + " was told of the end of a session that goes on");
        }
        verdict_.lost_holds += t.all_left ? 0 : 1;
        std::optional<nanoseconds> last = *t.leaving;
        for (const participant* p : r.members) {
            last = last && p->gone ? std::optional(std::max(*last, *p->gone)) : std::nullopt;
        }
        if (last) {
            check_late(*last, *t.ended, t.worker, evidence_.name(t) + " was told late of the last");
        }
    }

    /// S28: leave() returns true only when all have left by themselves. L9: A loss is told, unless
    /// a later round has begun (N14), or the operator's znode is gone, which cannot leave.
    void check_all_have_left(const turn& t, const round& r) {
        const bool may_miss_a_loss =
            std::any_of(rounds_.begin(), rounds_.end(), [&](const round& later) {
                return later.zxid > r.zxid && later.began <= *t.ended;
            });
        for (const participant* p : r.members) {
            const bool left = p->gone && *p->gone <= *t.ended + evidence_.expected().precision;
            if (!left || (!may_miss_a_loss && p->session != 0 && !left_by_itself(*p))) {
                add(rule::farewell,
                    *t.ended,
                    evidence_.name(t) + " was told that all had left, and " + p->znode +
                        (left ? " was lost at " + evidence_.when(*p->gone) : " was inside"));
            }
        }
    }

    const evidence& evidence_;
    const std::string& path_;
    const queue& all_;
    verdict& verdict_;
    std::vector<round> rounds_;
    bool on_ = false;                 ///< the last one, or it was not cleared away
    std::set<std::int64_t> counted_;  ///< transactions that wrote to the directory
    std::set<const participant*> entered_by_;
};

}  // namespace

void check_rounds(const evidence& e, verdict& v) {
    std::vector<const turn*> turns;  // in the order in which they were told
    for (const turn& t : e.all().turns) {
        turns.push_back(&t);
        if (!t.failure.empty()) {
            v.violations.push_back({rule::failure, e.name(t) + ": " + t.failure});
        }
    }
    std::stable_sort(turns.begin(), turns.end(), [](const turn* a, const turn* b) {
        return a->granted.value_or(nanoseconds::max()) < b->granted.value_or(nanoseconds::max());
    });
    for (const auto& [path, all] : e.queues()) {
        barrier b(e, path, all, v);
        b.check_beginnings();
        b.check_what_stays();
        for (const turn* t : turns) {
            if (t->lock == path) {
                b.check(*t);
            }
        }
    }
}

}  // namespace latchkey::history
