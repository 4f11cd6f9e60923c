#include "permit_judge.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace latchkey::simulation {
namespace {

std::optional<std::uint32_t> limit_in(std::string_view data) {
    std::uint32_t limit = 0;
    const auto [end, failed] = std::from_chars(data.data(), data.data() + data.size(), limit);
    const bool whole = failed == std::errc{} && end == data.data() + data.size();
    return whole && limit > 0 ? std::optional(limit) : std::nullopt;
}

std::uint64_t sum_of(const participants& permits) {
    std::uint64_t sum = 0;
    for (const auto& p : permits) {
        sum += p->permits;
    }
    return sum;
}

}  // namespace

permit_judge::permit_judge(stage& s) : judge(s), leases_(!s.recipe.names().weighted) {
    for (const plan::client& c : s.what.clients) {
        for (const plan::object& o : c.objects) {
            const std::string path = o.directory.substr(0, o.directory.rfind('/'));
            const auto known =
                std::find_if(semaphores_.begin(), semaphores_.end(), [&](const semaphore& other) {
                    return other.path == path;
                });
            if (known == semaphores_.end()) {
                semaphores_.push_back(
                    {path, o.directory, o.more_directories.front(), {}, {}, {}, {}});
            }
        }
    }
    if (leases_) {
        for (semaphore& one : semaphores_) {
            one.limit = s.what.permits;
            one.limits.insert(s.what.permits);
        }
    }
}

const permit_judge::semaphore& permit_judge::of(const call& c) const {
    return *std::find_if(semaphores_.begin(), semaphores_.end(), [&](const semaphore& s) {
        return s.queue == c.directory;
    });
}

// ---- the log ----

void permit_judge::applied(const model::transaction& t, const participants& changed) {
    for (semaphore& s : semaphores_) {
        for (const model::change& c : t.changes) {
            if (c.path == s.path && !leases_) {
                note_limit(s, c);
            }
        }
        admitted(s, t.zxid, changed);
        note_head(s);
    }
}

void permit_judge::note_limit(semaphore& s, const model::change& c) {
    using enum model::change::kind;
    if (c.what == remove) {
        s.limit.reset();
    } else if (c.what == create || c.what == set_data) {
        resizes_ += c.what == set_data ? 1U : 0U;
        s.limit = limit_in(c.data);
        s.limits.insert(s.limit.value_or(0));
        s.made = c.what == create ? stage_.now() : s.made;
        stage_.tell("    the limit of ", s.path, " is ", c.data);
    }
}

/// The permits that one transaction has created, of one participant or, wrongly, of several.
void permit_judge::admitted(semaphore& s, std::int64_t zxid, const participants& changed) {
    std::map<std::string, admission> created;
    for (const auto& p : changed) {
        if (p->there() && !p->foreign() && p->czxid == zxid &&
            p->path.starts_with(s.permits + '/')) {
            created[p->attempt].permits.push_back(p);
        }
    }
    for (auto& [attempt, a] : created) {
        a.zxid = zxid;
        for (const auto& p : changed) {
            if (!p->there() && p->attempt == attempt && p->path.starts_with(s.queue + '/')) {
                a.place = p;
            }
        }
        check_admission(s, a);
        if (!s.admissions.emplace(attempt, a).second) {
            stage_.broken("I1", attempt + " took permits a second time");
        }
    }
}

void permit_judge::check_admission(const semaphore& s, const admission& a) {
    const std::string& who = a.permits.front()->path;
    std::uint64_t taken = 0;
    for (const auto& [czxid, p] : truth_.queue_of(s.permits)) {
        taken += p->foreign() ? 0 : p->permits;
    }
    if (!s.limit || taken > *s.limit) {
        return stage_.broken("I1",
                             who + " brought the permits to " + std::to_string(taken) + " of " +
                                 std::to_string(s.limit.value_or(0)));
    }
    if (a.place == nullptr) {
        return stage_.broken("I4", who + " was taken by one who did not leave the queue for it");
    }
    for (const auto& [place, other] : truth_.queue_of(s.queue)) {
        if (place < a.place->place && !other->foreign() && other->attempt != a.place->attempt) {
            return stage_.broken("I4", who + " was taken while " + other->path + " is ahead");
        }
    }
    const auto& unordered = truth_.unordered_in(s.queue);
    if (!unordered.empty() && unordered.begin()->first < a.place->place.zxid) {
        stage_.broken("I4", who + " was taken beside " + unordered.begin()->second);
    }
}

void permit_judge::note_head(semaphore& s) {
    const auto& queue = truth_.queue_of(s.queue);
    const auto first = std::find_if(
        queue.begin(), queue.end(), [](const auto& one) { return !one.second->foreign(); });
    const auto head = first == queue.end() ? nullptr : first->second;
    if (head != nullptr) {
        heads_.emplace(s.queue, holder_of_watches(head->owner));
    }
}

// ---- how calls end ----

void permit_judge::check_token(const call& c, const hold& h, const participants& places) {
    const semaphore& s = of(c);
    const auto found = s.admissions.find(places.front()->attempt);
    if (found == s.admissions.end() || found->second.place == nullptr) {
        return stage_.broken("I1", c.who + " was granted what it never took, " + h.path());
    }
    const admission& a = found->second;
    if (h.token().zxid != a.place->czxid) {
        return stage_.broken("I3",
                             c.who + "'s token is not the czxid of its place, " + a.place->path);
    }
    const bool all =
        std::is_permutation(places.begin(), places.end(), a.permits.begin(), a.permits.end());
    if (!all || sum_of(places) != c.what.permits) {
        stage_.broken("I1",
                      c.who + " was granted " + std::to_string(sum_of(places)) + " of " +
                          std::to_string(sum_of(a.permits)) + " permits instead of " +
                          std::to_string(c.what.permits));
    }
}

/// That it was the first was seen when it took the permits.
void permit_judge::check_first(const call& c, const participants&) {
    if (c.stated && !of(c).limits.contains(*c.stated)) {
        stage_.broken("I9",
                      c.who + " was granted by a limit of " + std::to_string(*c.stated) +
                          ", which never was that of " + of(c).path);
    }
}

bool permit_judge::explains(const call& c, std::error_code ec) const {
    const std::set<std::uint32_t>& limits = of(c).limits;
    if (ec == errc::invalid_argument && !limits.empty()) {
        const bool another = c.stated && (limits.size() > 1 || !limits.contains(*c.stated));
        return !leases_ && (another || c.what.permits > *limits.begin());
    }
    return ec == errc::no_such_znode && !leases_ && !c.stated;
}

// ---- what it costs ----

/// A session that was replaced without a word leaves its watches to the next one.
std::int64_t permit_judge::holder_of_watches(std::int64_t session) const {
    const client_record* const by = client_of(session);
    return stage_.what.uses(fault::session_replaced) && by != nullptr ? by->number : session;
}

bool permit_judge::may_watch(const std::string& path, std::int64_t session) const {
    return std::any_of(semaphores_.begin(), semaphores_.end(), [&](const semaphore& s) {
        return (path == s.permits || (path == s.path && !leases_)) &&
               heads_.contains({s.queue, holder_of_watches(session)});
    });
}

std::optional<testing::counters> permit_judge::budget(const call& c, const hold& h) const {
    if (resizes_ > 0 || (!c.stated && of(c).made > c.begun)) {
        // Whoever is the first looks again, and who needs others to make it.
        return std::nullopt;
    }
    const std::uint64_t woken = c.by->wake_ups - c.wake_ups_before;
    testing::counters most;
    most.creates = 1 + levels_of(*c.by, h.path()) + 1;  // two directories instead of one
    most.children = 2 + (c.tries() ? 1 : 0) + 2 * woken;
    most.gets = (leases_ ? 0 : 1) + 3 * woken;
    most.multis = 1;
    return most;
}

}  // namespace latchkey::simulation
