#include "timeliness.hpp"

#include "cluster.hpp"

#include <algorithm>

namespace latchkey::simulation {

using namespace std::chrono_literals;

void timeliness::applied(const model::transaction& t) {
    committed_[stage_.now()] = t.zxid;
}

duration timeliness::soon() const {
    return stage_.hops(20) + 200ms;
}

/// What was committed before messages have had the time to tell of it.
std::int64_t timeliness::known_everywhere() const {
    const auto later = committed_.upper_bound(stage_.now() - stage_.hops(4));
    return later == committed_.begin() ? 0 : std::prev(later)->second;
}

bool timeliness::looks() {
    const duration now = stage_.now();
    if (now < next_look_) {
        return false;
    }
    next_look_ = now + soon() / 4;
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
    const duration restored = stage_.last_trouble > duration{}
                                  ? stage_.last_trouble + stage_.what.session_timeout
                                  : duration{};
    const auto found = hindered_at_.find(by.session);
    return std::max({by.connected_at,
                     by.running_since,
                     stage_.last_cut,
                     restored,
                     found == hindered_at_.end() ? duration{} : found->second}) <= then;
}

}  // namespace latchkey::simulation
