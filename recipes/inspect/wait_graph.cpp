#include <latchkey/wait_graph.hpp>

#include "inspect/wait_reduction.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using vertex = wait_reduction::vertex;

/// How many beginnings are tried for the shortest cycle of a deadlock.
constexpr std::size_t most_beginnings = 32;

bool is_semaphore(lock_kind k) noexcept {
    return k == lock_kind::semaphore || k == lock_kind::curator_semaphore;
}

/// Whether participants of such a lock wait until others release it.
bool is_waited_for(lock_kind k) noexcept {
    return k == lock_kind::mutex || k == lock_kind::shared_mutex || is_semaphore(k);
}

/// Whether `p` is not granted before `ahead` has gone.
bool has_to_let_pass(const participant& ahead, const participant& p) noexcept {
    return p.mode.value_or(lock_mode::exclusive) == lock_mode::exclusive ||
           ahead.mode != lock_mode::shared;
}

/// A participant that waits, with the nearest considered waiter ahead that it has to let pass.
struct considered_wait {
    const participant* waiter;
    const participant* ahead = nullptr;
};

std::set<std::int64_t> sessions_that_hold(const queue_view& v) {
    std::set<std::int64_t> all;
    for (const participant& p : v.participants) {
        if (p.holding && p.session_id != 0) {
            all.insert(p.session_id);
        }
    }
    return all;
}

/// The waits that count, in the order of the queue.
std::vector<considered_wait> waits_in(const queue_view& v) {
    std::vector<considered_wait> all;
    if (!is_waited_for(v.kind)) {
        return all;
    }
    const auto holding = sessions_that_hold(v);
    const participant* last = nullptr;
    const participant* last_not_shared = nullptr;
    for (const participant& p : v.participants) {
        if (p.holding || p.session_id == 0 || holding.contains(p.session_id)) {
            continue;
        }
        const bool passes_readers = p.mode.value_or(lock_mode::exclusive) != lock_mode::exclusive;
        all.push_back({&p, passes_readers ? last_not_shared : last});
        last = &p;
        if (p.mode != lock_mode::shared) {
            last_not_shared = &p;
        }
    }
    return all;
}

/// The holders that a waiter waits for: one participant of each session.
std::vector<const participant*> holders_against(const participant& waiter, const queue_view& v) {
    std::vector<const participant*> all;
    std::set<std::int64_t> sessions;
    for (const participant& p : v.participants) {
        if (p.holding && p.session_id != 0 && has_to_let_pass(p, waiter) &&
            sessions.insert(p.session_id).second) {
            all.push_back(&p);
        }
    }
    return all;
}

lock_wait wait_of(const queue_view& v, const participant& waiter, const participant& blocker) {
    return {.path = v.path, .kind = v.kind, .waiter = waiter, .blocker = blocker};
}

bool is_before(const lock_wait& one, const lock_wait& other) {
    return std::tie(one.path, one.waiter.name) < std::tie(other.path, other.waiter.name);
}

/// The graph of all views. Its vertices are sessions that wait for something, their waits, and the
/// holders of a path, as waiters of one kind see them.
class session_graph {
public:
    explicit session_graph(const std::vector<queue_view>& views) {
        for (const queue_view& v : views) {
            for (const considered_wait& w : waits_in(v)) {
                waits_of_[w.waiter->session_id];
            }
        }
        for (auto& [session, at] : waits_of_) {
            at = add(wait_reduction::needs::all, {.session = session});
        }
        for (const queue_view& v : views) {
            add_waits(v);
        }
    }

    [[nodiscard]] std::vector<deadlock> deadlocks() const {
        std::vector<deadlock> all;
        for (auto& knot : graph_.knots()) {
            std::sort(knot.begin(), knot.end());
            all.push_back(deadlock_of(knot));
        }
        std::sort(all.begin(), all.end(), [](const deadlock& one, const deadlock& other) {
            return one.cycle.size() != other.cycle.size()
                       ? one.cycle.size() < other.cycle.size()
                       : is_before(one.cycle.front(), other.cycle.front());
        });
        return all;
    }

private:
    /// What a vertex stands for: a session, a wait (with `waiter`), or holders.
    struct meaning {
        std::int64_t session = 0;
        const queue_view* view = nullptr;
        const participant* waiter = nullptr;
    };

    vertex add(wait_reduction::needs n, const meaning& m) {
        meanings_.push_back(m);
        return graph_.add(n);
    }

    void add_waits(const queue_view& v) {
        std::map<const participant*, vertex> known;
        std::optional<vertex> against_readers;
        std::optional<vertex> against_writers;
        bool holders_are_known = false;
        for (const considered_wait& w : waits_in(v)) {
            const vertex at = add(wait_reduction::needs::all, {.view = &v, .waiter = w.waiter});
            known[w.waiter] = at;
            graph_.wait(waits_of_.at(w.waiter->session_id), at);
            if (!std::exchange(holders_are_known, true)) {
                against_writers = add_holders(v, lock_mode::exclusive);
                against_readers = v.kind == lock_kind::shared_mutex
                                      ? add_holders(v, lock_mode::shared)
                                      : std::nullopt;
            }
            const bool passes_readers =
                w.waiter->mode.value_or(lock_mode::exclusive) != lock_mode::exclusive;
            if (const auto& holders = passes_readers ? against_readers : against_writers) {
                graph_.wait(at, *holders);
            }
            // The others wait for all that the waiters ahead of them wait for.
            if (passes_readers && w.ahead != nullptr) {
                graph_.wait(at, known.at(w.ahead));
            }
        }
    }

    /// Those that a waiter of this mode waits for; nothing if it may go on whatever they do.
    std::optional<vertex> add_holders(const queue_view& v, lock_mode waiting) {
        if (is_semaphore(v.kind) && v.taken < v.capacity) {
            return std::nullopt;  // a waiter may take what is free
        }
        participant waiter;
        waiter.mode = waiting;
        std::vector<vertex> blocked;
        bool one_goes_on = false;
        for (const participant& p : v.participants) {
            if (!p.holding || !has_to_let_pass(p, waiter)) {
                continue;
            }
            const auto at = waits_of_.find(p.session_id);
            if (at == waits_of_.end()) {
                one_goes_on = true;
            } else {
                blocked.push_back(at->second);
            }
        }
        if (blocked.empty() || (is_semaphore(v.kind) && one_goes_on)) {
            return std::nullopt;
        }
        const vertex at =
            add(is_semaphore(v.kind) ? wait_reduction::needs::any : wait_reduction::needs::all,
                {.view = &v});
        for (const vertex b : blocked) {
            graph_.wait(at, b);
        }
        return at;
    }

    [[nodiscard]] deadlock deadlock_of(const std::vector<vertex>& knot) const {
        std::vector<bool> inside(graph_.size());
        for (const vertex v : knot) {
            inside[v] = true;
        }
        std::vector<vertex> shortest;
        std::size_t tried = 0;
        for (const vertex v : knot) {
            if (meanings_[v].session == 0 || tried++ == most_beginnings) {
                continue;
            }
            auto cycle = graph_.cycle_through(v, inside);
            if (shortest.empty() || cycle.size() < shortest.size()) {
                shortest = std::move(cycle);
            }
        }
        deadlock d;
        for (std::size_t i = 0; i < shortest.size(); ++i) {
            if (meanings_[shortest[i]].waiter != nullptr) {
                d.cycle.push_back(wait_at(shortest[i],
                                          shortest[(i + 1) % shortest.size()],
                                          shortest[(i + 2) % shortest.size()]));
            }
            inside[shortest[i]] = meanings_[shortest[i]].waiter == nullptr;
        }
        std::rotate(d.cycle.begin(),
                    std::min_element(d.cycle.begin(), d.cycle.end(), is_before),
                    d.cycle.end());
        for (const vertex v : knot) {
            if (inside[v] && meanings_[v].waiter != nullptr) {
                d.others.push_back(wait_in_knot(v, knot));
            }
        }
        std::sort(d.others.begin(), d.others.end(), is_before);
        return d;
    }

    /// A wait, the vertex that it waits for, and if that stands for holders, one that holds.
    [[nodiscard]] lock_wait wait_at(vertex at, vertex next, vertex holder) const {
        const meaning& m = meanings_[at];
        if (meanings_[next].waiter != nullptr) {
            return wait_of(*m.view, *m.waiter, *meanings_[next].waiter);
        }
        const auto holders = holders_against(*m.waiter, *m.view);
        const auto found = std::find_if(holders.begin(), holders.end(), [&](const participant* p) {
            return p->session_id == meanings_[holder].session;
        });
        return wait_of(*m.view, *m.waiter, **found);
    }

    [[nodiscard]] lock_wait wait_in_knot(vertex at, const std::vector<vertex>& knot) const {
        const auto inside = [&](vertex v) {
            return std::find(knot.begin(), knot.end(), v) != knot.end();
        };
        const auto& next = graph_.blockers(at);
        const vertex blocker = *std::find_if(next.begin(), next.end(), inside);
        const auto& held = graph_.blockers(blocker);
        return wait_at(at, blocker, *std::find_if(held.begin(), held.end(), inside));
    }

    wait_reduction graph_;
    std::vector<meaning> meanings_;
    std::map<std::int64_t, vertex> waits_of_;  ///< by session
};

std::set<std::pair<std::int64_t, std::int64_t>> znodes_of(const deadlock& d) {
    std::set<std::pair<std::int64_t, std::int64_t>> all;
    for (const auto* const waits : {&d.cycle, &d.others}) {
        for (const lock_wait& w : *waits) {
            all.emplace(w.waiter.czxid, w.blocker.czxid);
        }
    }
    return all;
}

}  // namespace

bool deadlock::is_same(const deadlock& other) const {
    return znodes_of(*this) == znodes_of(other);
}

std::vector<lock_wait> find_waits(const std::vector<queue_view>& views) {
    std::vector<lock_wait> all;
    for (const queue_view& v : views) {
        for (const considered_wait& w : waits_in(v)) {
            for (const participant* const holder : holders_against(*w.waiter, v)) {
                all.push_back(wait_of(v, *w.waiter, *holder));
            }
            if (w.ahead != nullptr && w.ahead->session_id != w.waiter->session_id) {
                all.push_back(wait_of(v, *w.waiter, *w.ahead));
            }
        }
    }
    return all;
}

std::vector<deadlock> find_deadlocks(const std::vector<queue_view>& views) {
    return session_graph(views).deadlocks();
}

std::vector<lock_wait> find_self_waits(const std::vector<queue_view>& views) {
    std::vector<lock_wait> all;
    for (const queue_view& v : views) {
        const auto holder = std::find_if(v.participants.begin(),
                                         v.participants.end(),
                                         [](const participant& p) { return p.holding; });
        if (v.kind != lock_kind::mutex || holder == v.participants.end() ||
            holder->session_id == 0) {
            continue;
        }
        for (const participant& p : v.participants) {
            if (!p.holding && p.session_id == holder->session_id &&
                p.library != participant_library::curator) {
                all.push_back(wait_of(v, p, *holder));
            }
        }
    }
    return all;
}

}  // namespace latchkey::inline v0
