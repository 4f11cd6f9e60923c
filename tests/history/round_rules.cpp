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
};

/// The rounds of one barrier, judged one after the other.
class barrier {
public:
    barrier(const evidence& e, const std::string& path, const queue& all, verdict& v)
        : evidence_(e), path_(path), all_(all), verdict_(v) {
        for (const transaction& entry : e.all().transactions) {
            for (const znode_change& change : entry.changes) {
                if (change.what == znode_change::kind::created && change.path == path + "/ready") {
                    begin(entry, change.data);
                }
            }
        }
    }

    void check(const turn& t) {
        if (!t.granted) {
            return;
        }
        ++verdict_.grants;
        const round* r = round_of(t);
        if (r == nullptr) {
            add(evidence_.name(t) + " has entered at " + evidence_.when(*t.granted) +
                ", and was in no round that had begun since " + evidence_.when(t.invoked));
            return;
        }
        check_entered(t, *r);
        if (t.leaving && t.ended) {
            check_left(t, *r);
        }
    }

    /// Enough are there, and no round begins.
    void check_beginnings() {
        std::vector<nanoseconds> moments{evidence_.all().end};
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
                check_waited(*since, at);
            }
            const bool enough =
                static_cast<std::size_t>(
                    std::count_if(all_.begin(), all_.end(), [&](const participant& p) {
                        return p.born <= at && (!p.gone || *p.gone > at) && !in_a_round(p, at);
                    })) >= evidence_.all().limit;
            since = enough ? since.value_or(at) : std::optional<nanoseconds>();
        }
    }

private:
    void add(std::string text) { verdict_.violations.push_back({rule::round, std::move(text)}); }

    /// Who is of it is written there; whoever has come meanwhile is not.
    void begin(const transaction& entry, const std::string& written) {
        const auto names =
            nlohmann::json::parse(written).at("members").get<std::set<std::string>>();
        round r{.zxid = entry.zxid,
                .began = std::chrono::milliseconds(entry.wall_ms) + evidence_.all().wall_offset};
        for (const participant& p : all_) {
            const bool named = names.contains(p.znode.substr(path_.size() + 1));
            if (named && p.born_zxid < r.zxid && p.gone_zxid > r.zxid) {
                r.members.push_back(&p);
            }
        }
        if (r.members.size() < evidence_.all().limit) {
            add(path_ + ": a round began at " + evidence_.when(r.began) + " with " +
                std::to_string(r.members.size()) + " participants");
        }
        rounds_.push_back(std::move(r));
    }

    /// The last that had begun when it was told, with a place of its worker's.
    [[nodiscard]] const round* round_of(const turn& t) const {
        const nanoseconds precision = evidence_.expected().precision;
        for (auto r = rounds_.rbegin(); r != rounds_.rend(); ++r) {
            const bool in_time =
                r->began <= *t.granted + precision && r->began + precision >= t.invoked;
            if (in_time && std::any_of(r->members.begin(), r->members.end(), [&](const auto* p) {
                    return evidence_.worker_of(*p) == t.worker;
                })) {
                return &*r;
            }
        }
        return nullptr;
    }

    void check_entered(const turn& t, const round& r) {
        const nanoseconds since = std::max(r.began, t.invoked);
        const nanoseconds late = evidence_.quiet().time(since, *t.granted, t.worker);
        if (late > evidence_.expected().patience) {
            verdict_.violations.push_back({rule::lost_wakeup,
                                           evidence_.name(t) +
                                               " entered late, in a round that began at " +
                                               evidence_.when(r.began)});
        }
        if (evidence_.quiet().undisturbed(since, *t.granted)) {
            verdict_.hand_over.values.push_back(std::max(nanoseconds(0), *t.granted - since));
        }
    }

    void check_left(const turn& t, const round& r) {
        std::optional<nanoseconds> last = *t.leaving;
        for (const participant* p : r.members) {
            last = last && p->gone ? std::optional(std::max(*last, *p->gone)) : std::nullopt;
            const bool left =
                p->gone && !p->expired && *p->gone <= *t.ended + evidence_.expected().precision;
            if (t.all_left && !left) {
                add(evidence_.name(t) + " was told at " + evidence_.when(*t.ended) +
                    " that all had left, and " + p->znode +
                    (!p->gone     ? " stayed"
                     : p->expired ? " was lost at "
                                  : " left at ") +
                    (p->gone ? evidence_.when(*p->gone) : ""));
            }
        }
        verdict_.lost_holds += t.all_left ? 0 : 1;
        if (last &&
            evidence_.quiet().time(*last, *t.ended, t.worker) > evidence_.expected().patience) {
            verdict_.violations.push_back({rule::lost_wakeup,
                                           evidence_.name(t) + " was told late, at " +
                                               evidence_.when(*t.ended) +
                                               ", that the last had left"});
        }
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

    void check_waited(nanoseconds since, nanoseconds until) {
        const nanoseconds waited = evidence_.quiet().time(since, until, std::nullopt);
        if (waited > evidence_.expected().patience) {
            verdict_.violations.push_back(
                {rule::lost_wakeup,
                 path_ + ": enough were there since " + evidence_.when(since) +
                     ", and no round began until " + evidence_.when(until)});
        }
    }

    const evidence& evidence_;
    const std::string& path_;
    const queue& all_;
    verdict& verdict_;
    std::vector<round> rounds_;
};

}  // namespace

void check_rounds(const evidence& e, verdict& v) {
    for (const auto& [path, all] : e.queues()) {
        barrier b(e, path, all, v);
        b.check_beginnings();
        for (const turn& t : e.all().turns) {
            if (t.lock == path) {
                b.check(t);
            }
        }
    }
    for (const turn& t : e.all().turns) {
        if (!t.failure.empty()) {
            v.violations.push_back({rule::failure, e.name(t) + ": " + t.failure});
        }
    }
}

}  // namespace latchkey::history
