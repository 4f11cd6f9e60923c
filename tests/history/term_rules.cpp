#include <latchkey/fencing_token.hpp>

#include "rules.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

namespace latchkey::history {
namespace {

using rule = violation::rule;

/// The data of an election's path, as it was written.
struct record {
    std::int64_t session = 0;
    std::string text;

    /// Whether it is that of a leader, which was written as `zxid`, whose successor has this token.
    /// If only such a record tells who that is: a record that names this znode.
    [[nodiscard]] bool precedes(fencing_token token,
                                std::int64_t zxid,
                                const std::string& znode,
                                bool must_name) const {
        const auto read = nlohmann::json::parse(text, nullptr, false);
        return read.is_object() && read.value("token", zxid) == token.zxid &&
               read.value("turn", 0U) + 1 == token.turn &&
               (!must_name || read.value("successor", "") == znode.substr(znode.rfind('/') + 1));
    }
};

/// By the zxid of the write.
using records = std::map<std::int64_t, record>;

std::map<std::string, records> records_of(const evidence& e) {
    std::map<std::string, records> all;
    for (const auto& [lock, turns] : e.grants()) {
        all[lock];
    }
    for (const transaction& entry : e.all().transactions) {
        for (const znode_change& change : entry.changes) {
            const auto found = all.find(change.path);
            if (found != all.end() && change.what == znode_change::kind::changed) {
                found->second[entry.zxid] = {entry.session, change.data};
            }
        }
    }
    return all;
}

/// A token is the creation of the leader's znode; or a write of the record by its session while the
/// znode was there; or the next turn of a leader that named it as its successor.
bool term_token_fits(const evidence& e,
                     const turn& t,
                     const participant& own,
                     const records& written) {
    const auto token = fencing_token::from_value(t.token);
    if (token.turn > 0) {
        return std::ranges::any_of(written, [&](const auto& each) {
            return each.second.precedes(token, each.first, own.znode, !e.expected().direct);
        });
    }
    const auto write = written.find(token.zxid);
    return token.zxid == own.born_zxid ||
           (write != written.end() && token.zxid > own.born_zxid && token.zxid < own.gone_zxid &&
            write->second.session == own.session);
}

void check_tokens_of(const evidence& e,
                     const std::vector<const turn*>& turns,
                     const records& written,
                     verdict& v) {
    std::vector<const turn*> in_time = turns;
    std::sort(in_time.begin(), in_time.end(), [](const turn* x, const turn* y) {
        return *x->granted < *y->granted;
    });
    const turn* before = nullptr;
    for (const turn* t : in_time) {
        ++v.grants;
        const participant* own = e.granted_znode(*t);
        if (own == nullptr) {
            add(v, rule::token, e.name(*t) + " leads with a znode that nobody created");
        } else if (!term_token_fits(e, *t, *own, written)) {
            add(v, rule::token, e.name(*t) + " has a token that is no write for it");
        } else if (believed(*t) && own->session != t->session) {
            add(v, rule::token, e.name(*t) + " has a znode of another session");
        }
        if (before != nullptr && believed(*t) && t->token <= before->token) {
            add(v, rule::token, e.name(*t) + " came after " + e.name(*before));
        }
        before = believed(*t) ? t : before;
    }
}

/// Whoever was let in behind a leader has its number, and is younger: ahead of all others all the
/// same.
void check_terms_order(const evidence& e, const queue& all, verdict& v) {
    std::vector<const participant*> by_place;
    for (const participant& p : all) {
        by_place.push_back(&p);
    }
    std::sort(by_place.begin(), by_place.end(), [](const participant* x, const participant* y) {
        return std::tie(x->place, x->born_zxid) < std::tie(y->place, y->born_zxid);
    });
    const participant* last = nullptr;  // of those ahead, the one that went last
    const participant* before = nullptr;
    for (const participant* own : by_place) {
        const turn* t = e.turn_of(*own);
        if (last != nullptr && t != nullptr && e.granted_znode(*t) == own &&
            e.in_the_way(*last, *t)) {
            add_behind(e, *t, *last, v);
        }
        v.transfers += before != nullptr && before->place == own->place ? 1 : 0;
        last = last == nullptr || own->gone_zxid > last->gone_zxid ? own : last;
        before = own;
    }
}

/// A leader that was not killed is told that it is none any more, when its own deadline is over at
/// the latest.
void check_told(const evidence& e, const turn& t, verdict& v) {
    nanoseconds until = *t.granted;
    for (const observation& o : t.observations) {
        until = o.valid ? std::max(until, o.valid_until) : until;
    }
    const nanoseconds told = t.ended.value_or(e.all().end);
    if (!t.ended && e.death_of(t.worker) == nullptr) {
        add(v, rule::untold, e.name(t) + " was never told to be over");
    } else if (t.ended && e.quiet().time(until, told, t.worker) > e.expected().patience) {
        add(v,
            rule::untold,
            e.name(t) + " was over at " + e.when(until) + ", and was told so at " + e.when(told));
    }
}

void count_what_befell(const evidence& e, const turn& t, verdict& v) {
    for (const disturbance& d : e.all().disturbances) {
        if (d.worker == t.worker && believed(t) && *t.granted <= d.begin &&
            d.begin <= t.ended.value_or(e.all().end)) {
            ++v.struck[d.kind];
        }
    }
}

}  // namespace

void check_terms(const evidence& e, verdict& v) {
    const auto written = records_of(e);
    for (const auto& [lock, turns] : e.grants()) {
        check_tokens_of(e, turns, written.at(lock), v);
        check_terms_order(e, e.queues().at(queue_directory(e.all().laid_out, lock)), v);
        for (const turn* t : turns) {
            check_told(e, *t, v);
            count_what_befell(e, *t, v);
        }
    }
}

}  // namespace latchkey::history
