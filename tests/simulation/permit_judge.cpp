#include "permit_judge.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace latchkey::simulation {
namespace {

/// 0: none.
std::uint32_t limit_in(std::string_view data) {
    std::uint32_t limit = 0;
    const auto [end, failed] = std::from_chars(data.data(), data.data() + data.size(), limit);
    return failed == std::errc{} && end == data.data() + data.size() ? limit : 0;
}

}  // namespace

permit_judge::permit_judge(stage& s)
    : judge(s,
            s.recipe.names().weighted ? history::layout::semaphore
                                      : history::layout::curator_semaphore),
      leases_(!s.recipe.names().weighted) {
    for (const plan::client& c : s.what.clients) {
        for (const plan::object& o : c.objects) {
            const std::string path = o.directory.substr(0, o.directory.rfind('/'));
            const auto known =
                std::find_if(semaphores_.begin(), semaphores_.end(), [&](const semaphore& other) {
                    return other.path == path;
                });
            if (known == semaphores_.end()) {
                semaphores_.push_back({path, o.directory, o.more_directories.front(), {}, {}});
            }
        }
    }
    if (leases_) {
        for (semaphore& one : semaphores_) {
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

void permit_judge::applied(const model::transaction& t, const participants&) {
    for (semaphore& s : semaphores_) {
        for (const model::change& c : t.changes) {
            if (c.path == s.path && !leases_) {
                note_limit(s, c);
            }
        }
        note_head(s);
    }
}

void permit_judge::note_limit(semaphore& s, const model::change& c) {
    using enum model::change::kind;
    if (c.what == create || c.what == set_data) {
        resizes_ += c.what == set_data ? 1U : 0U;
        s.limits.insert(limit_in(c.data));
        s.made = c.what == create ? stage_.now() : s.made;
        stage_.tell("    the limit of ", s.path, " is ", c.data);
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

// ---- what is written down ----

/// The rules of tests/history know what the place and the permits have to be.
void permit_judge::check_token(const call& c, const hold& h, const participants& places) {
    const std::string& attempt = places.front()->attempt;
    history::turn& t = told_->turn(
        turns_[attempt] = told_->begins(
            c.by->number, {.locks = {of(c).path}, .permits = c.what.permits, .silent = true}));
    for (const auto& [place, p] : truth_.history_of(c.directory)) {
        if (p->attempt == attempt) {
            t.znodes.push_back(p->path);
        }
    }
    bool there = h.valid();
    for (const auto& p : places) {
        t.znodes.push_back(p->path);
        there = there && p->there();
    }
    t.granted = told_->moment();
    t.token = h.token().zxid;
    t.session = places.front()->owner;
    t.observations = {{*t.granted, there, duration::max()}};
}

/// Belief counts while all of its znodes are there; how long it may last after that, the judge of
/// mutexes knows, who knows the clocks.
void permit_judge::follow(held& h) {
    history::observation& last = told_->turn(turns_.at(h.place->attempt)).observations.back();
    const bool whole =
        h.place->there() &&
        std::all_of(h.others.begin(), h.others.end(), [](const auto& p) { return p->there(); });
    if (last.valid && whole && believes(h)) {
        last.at = told_->moment();
    }
}

void permit_judge::released(const held& h) {
    if (const auto own = turns_.find(h.place->attempt); own != turns_.end()) {
        told_->turn(own->second).ended = told_->moment();
    }
}

// ---- how calls end ----

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
