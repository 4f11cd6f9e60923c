#include "timeliness.hpp"

#include "ensemble/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void timeliness::applied(const model::transaction& t) {
    committed_[stage_.now()] = t.zxid;
}

duration timeliness::soon() const {
    return stage_.hops(20) + 200ms + 1s;
}

/// What was committed before messages have had the time to tell of it.
std::int64_t timeliness::known_everywhere() const {
    const auto later = committed_.upper_bound(stage_.now() - stage_.hops(4));
    return later == committed_.begin() ? 0 : std::prev(later)->second;
}

/// What may leave connections, processes or servers that do nothing any more, for a while. Requests
/// that are lost break theirs, and the operator hinders no client.
std::uint64_t timeliness::strikes() const {
    using enum fault;
    const auto& all = stage_.counts.faults;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(index_of(moved));
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(index_of(cancelled));
    std::uint64_t harmless = 0;
    for (const fault f :
         {znode_deleted, directory_deleted, data_changed, foreign_child, containers_reaped}) {
        harmless += all[index_of(f)];
    }
    return std::accumulate(first, last, std::uint64_t{0}) - harmless;
}

bool timeliness::looks() {
    const duration now = stage_.now();
    if (now < next_look_) {
        return false;
    }
    next_look_ = now + soon() / 4;
    const std::uint64_t before = std::exchange(strikes_, strikes());
    if (strikes_ != before || stage_.troubles > 0) {
        struck_at_ = now;
    }
    const std::int64_t known = known_everywhere();
    for (const auto& s : stage_.servers.sessions()) {
        const bool served = s.alive && s.connected && stage_.cluster.at(s.server).serving() &&
                            stage_.cluster.at(s.server).applied().zxid() >= known;
        if (!served || stage_.troubles > 0) {
            hindered_at_[s.id] = now;
        }
    }
    return true;
}

bool timeliness::unhindered(const client_record& by, duration then) const {
    if (by.session == 0 || by.paused || by.crashed || by.closed || by.suspended || by.lost ||
        stage_.troubles > 0) {
        return false;
    }
    // A connection that carries nothing any more is found out within two thirds of that.
    const duration restored =
        struck_at_ > duration{} ? struck_at_ + stage_.what.session_timeout : duration{};
    // What is refused is tried again within a second.
    const duration refused =
        stage_.last_trouble > duration{} ? stage_.last_trouble + 1s : duration{};
    const auto found = hindered_at_.find(by.session);
    return std::max({by.connected_at,
                     by.running_since,
                     stage_.last_cut,
                     restored,
                     refused,
                     found == hindered_at_.end() ? duration{} : found->second}) <= then;
}

bool timeliness::watches_unhindered(const client_record& by, duration then) const {
    return stage_.last_refusal < by.connected_at && unhindered(by, then);
}

}  // namespace latchkey::simulation
