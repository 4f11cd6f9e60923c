#include "serve/lock_reader.hpp"

#include "look/confirmed_deadlocks.hpp"
#include "look/queue_text.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::cli {

namespace {

constexpr std::size_t most_kept_data = 1024;
constexpr std::size_t most_kept_names = 1000;
constexpr std::size_t most_waits = 5000;

/// The walk as a whole ended as the worst of its parts.
void add_summary(lock_tree_summary& total, const lock_tree_summary& one) {
    total.znodes += one.znodes;
    total.end = std::max(total.end, one.end);
}

void shorten(queue_view& v) {
    for (participant& p : v.participants) {
        p.data.resize(std::min(p.data.size(), most_kept_data));
    }
    for (auto* const names : {&v.malformed, &v.foreign}) {
        names->resize(std::min(names->size(), most_kept_names));
    }
}

}  // namespace

std::vector<lock_wait> bounded_waits(const std::vector<queue_view>& contended,
                                     std::size_t most,
                                     std::size_t& left_out) {
    std::vector<queue_view> shown;
    for (const queue_view& v : contended) {
        // Each that waits has one wait for each holder at most, and one for a waiter ahead.
        const std::size_t holders = holders_in(v);
        const std::size_t waits = (v.participants.size() - holders) * (holders + 1);
        if (waits > most) {
            ++left_out;
            continue;
        }
        most -= waits;
        shown.push_back(v);
    }
    return find_waits(shown);
}

reading lock_reader::read(const std::stop_token& stop) const {
    reading r;
    r.at = std::chrono::system_clock::now();
    r.began = std::chrono::steady_clock::now();
    health_check health(r.at);
    const auto visit = [&](const lock_tree_entry& e) {
        auto& all = e.ec ? r.unreadable : r.locks;
        const auto [entry, is_new] = all.try_emplace(e.view.path, e);
        if (is_new) {  // not if two paths overlap
            health.look_at(e);
            shorten(entry->second.view);
        }
    };
    for (const std::string& path : paths_) {
        const lock_tree_options how{
            .max_znodes = max_znodes_ - std::min(max_znodes_, r.total.znodes), .stop = stop};
        add_summary(r.total, walk_locks(zk_, path, visit, how));
    }
    r.total.locks = r.locks.size();
    r.total.unreadable = r.unreadable.size();
    const auto deadlocks = confirmed_deadlocks(zk_, health.contended());
    health.add_deadlocks(deadlocks);
    r.deadlocks = deadlocks.size();
    for (const deadlock& d : deadlocks) {
        for (const auto* const waits : {&d.cycle, &d.others}) {
            for (const lock_wait& w : *waits) {
                r.deadlocked.insert(w.path);
            }
        }
    }
    r.findings = health.findings();
    r.waits = bounded_waits(health.contended(), most_waits, r.queues_left_out);
    r.took = std::chrono::steady_clock::now() - r.began;
    return r;
}

}  // namespace latchkey::cli
