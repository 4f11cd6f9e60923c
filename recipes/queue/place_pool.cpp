#include "queue/place_pool.hpp"

#include <utility>

namespace latchkey::inline v0 {

hold place_pool::take(const queue_recipe& as, telemetry::span* first) {
    const monitor_lock lock(guard_);
    for (auto turns = all_.rbegin(); turns != all_.rend(); ++turns) {
        if ((*turns)->recipe().permits == as.permits) {
            if (hold turn = (*turns)->take(first); !is_empty(turn)) {
                return turn;
            }
        }
    }
    return {};
}

void place_pool::add(std::shared_ptr<place_turns> turns) {
    const monitor_lock lock(guard_);
    all_.push_back(std::move(turns));
}

void place_pool::remove(const std::shared_ptr<place_turns>& turns) {
    const monitor_lock lock(guard_);
    std::erase(all_, turns);
}

void place_pool::close() {
    std::vector<std::shared_ptr<place_turns>> closed;
    {
        const monitor_lock lock(guard_);
        closed.swap(all_);
    }
    for (const auto& turns : closed) {
        turns->close();
    }
}

}  // namespace latchkey::inline v0
