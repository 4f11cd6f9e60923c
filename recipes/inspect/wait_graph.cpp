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

bool passes_readers(const participant& p) noexcept {
    return p.mode.value_or(lock_mode::exclusive) != lock_mode::exclusive;
}

/// Whether a waiter is not granted before `ahead` has gone.
bool has_to_let_pass(const participant& ahead, bool waiter_passes_readers) noexcept {
    return !waiter_passes_readers || ahead.mode != lock_mode::shared;
}

/// A participant that waits, with the nearest considered waiter ahead that it has to let pass.
struct considered_wait {
    const participant* waiter;
    const participant* ahead;
};

/// The waits that count, in the order of the queue.
std::vector<considered_wait> waits_in(const queue_view& v) {
    std::set<std::int64_t> left_out;  // sessions that hold, or are none
    left_out.insert(0);
    for (const participant& p : v.participants) {
        if (p.holding) {
            left_out.insert(p.session_id);
        }
    }
    std::vector<considered_wait> all;
    const participant* last = nullptr;
    const participant* last_not_shared = nullptr;
    for (const participant& p : v.participants) {
        if (!is_waited_for(v.kind) || p.holding || left_out.contains(p.session_id)) {
            continue;
        }
        all.push_back({&p, passes_readers(p) ? last_not_shared : last});
        last = &p;
        if (p.mode != lock_mode::shared) {
            last_not_shared = &p;
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

/// The graph of all views. Its vertices are sessions that wait for something, their waits, the
/// holders of a path, as waiters of one kind see them together, and each of these holders.
class session_graph {
public:
    explicit session_graph(const std::vector<queue_view>& views) {
        for (const queue_view& v : views) {
            for (const considered_wait& w : waits_in(v)) {
                sessions_[w.waiter->session_id];
            }
        }
        for (auto& [session, at] : sessions_) {
            at = add(needs::all, {});
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
    using needs = wait_reduction::needs;

    /// What a vertex stands for: a participant of a view, all its holders, or a session.
    struct meaning {
        const queue_view* view = nullptr;
        const participant* who = nullptr;
    };

    vertex add(needs n, const meaning& m, const std::vector<vertex>& blockers = {}) {
        meanings_.push_back(m);
        const vertex at = graph_.add(n);
        for (const vertex b : blockers) {
            graph_.wait(at, b);
        }
        return at;
    }

    void add_waits(const queue_view& v) {
        const auto waits = waits_in(v);
        if (waits.empty()) {
            return;
        }
        const auto against_writers = add_holders(v, false);
        const auto against_readers =
            v.kind == lock_kind::shared_mutex ? add_holders(v, true) : std::nullopt;
        std::map<const participant*, vertex> known;
        for (const considered_wait& w : waits) {
            const vertex at = add(needs::all, {&v, w.waiter});
            known[w.waiter] = at;
            graph_.wait(sessions_.at(w.waiter->session_id), at);
            const bool passes = passes_readers(*w.waiter);
            if (const auto& holders = passes ? against_readers : against_writers) {
                graph_.wait(at, *holders);
            }
            // The others wait for all that the waiters ahead of them wait for.
            if (passes && w.ahead != nullptr) {
                graph_.wait(at, known.at(w.ahead));
            }
        }
    }

    /// Those that such a waiter waits for; nothing if it may go on whatever they do.
    std::optional<vertex> add_holders(const queue_view& v, bool waiter_passes_readers) {
        if (is_semaphore(v.kind) && v.taken < v.capacity) {
            return std::nullopt;  // a waiter may take what is free
        }
        std::vector<vertex> blocked;
        bool one_goes_on = false;
        for (const participant& p : v.participants) {
            if (!p.holding || !has_to_let_pass(p, waiter_passes_readers)) {
                continue;
            }
            const auto session = sessions_.find(p.session_id);
            if (session == sessions_.end()) {
                one_goes_on = true;
            } else {
                blocked.push_back(add(needs::all, {&v, &p}, {session->second}));
            }
        }
        if (blocked.empty() || (is_semaphore(v.kind) && one_goes_on)) {
            return std::nullopt;
        }
        return add(is_semaphore(v.kind) ? needs::any : needs::all, {&v}, blocked);
    }

    [[nodiscard]] bool is_session(vertex v) const { return meanings_[v].view == nullptr; }

    [[nodiscard]] bool is_wait(vertex v) const {
        return meanings_[v].who != nullptr && !meanings_[v].who->holding;
    }

    /// A wait, the vertex that it waits for, and the next one, if that stands for all holders.
    [[nodiscard]] lock_wait wait_at(vertex at, vertex next, vertex one_of_next) const {
        const participant* const ahead = meanings_[next].who;
        return wait_of(*meanings_[at].view,
                       *meanings_[at].who,
                       ahead != nullptr ? *ahead : *meanings_[one_of_next].who);
    }

    [[nodiscard]] deadlock deadlock_of(const std::vector<vertex>& knot) const {
        std::vector<bool> inside(graph_.size());
        for (const vertex v : knot) {
            inside[v] = true;
        }
        std::vector<vertex> shortest;
        std::size_t tried = 0;
        for (const vertex v : knot) {
            if (!is_session(v) || tried++ >= most_beginnings) {
                continue;
            }
            auto cycle = graph_.cycle_through(v, inside);
            if (shortest.empty() || cycle.size() < shortest.size()) {
                shortest = std::move(cycle);
            }
        }
        deadlock d;
        std::vector<bool> shown(graph_.size());
        for (std::size_t i = 0; i < shortest.size(); ++i) {
            const auto later = [&](std::size_t n) { return shortest[(i + n) % shortest.size()]; };
            shown[shortest[i]] = true;
            if (is_wait(shortest[i])) {
                d.cycle.push_back(wait_at(shortest[i], later(1), later(2)));
            }
        }
        std::rotate(d.cycle.begin(),
                    std::min_element(d.cycle.begin(), d.cycle.end(), is_before),
                    d.cycle.end());
        const auto next_of = [&](vertex v) {
            const auto& all = graph_.blockers(v);
            return *std::find_if(all.begin(), all.end(), [&](vertex b) { return inside[b]; });
        };
        for (const vertex v : knot) {
            if (is_wait(v) && !shown[v]) {
                d.others.push_back(wait_at(v, next_of(v), next_of(next_of(v))));
            }
        }
        std::sort(d.others.begin(), d.others.end(), is_before);
        return d;
    }

    wait_reduction graph_;
    std::vector<meaning> meanings_;
    std::map<std::int64_t, vertex> sessions_;  ///< those that wait
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
            std::set<std::int64_t> sessions{0};
            for (const participant& p : v.participants) {
                if (p.holding && has_to_let_pass(p, passes_readers(*w.waiter)) &&
                    sessions.insert(p.session_id).second) {
                    all.push_back(wait_of(v, *w.waiter, p));
                }
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
