#include "lock/exclusive_lock.hpp"

#include "client/hold_state.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

bool exclusive_lock::lock_within(std::chrono::nanoseconds limit) {
    acquire.core()->check_not_forked();  // a thread of the parent may have held the guard
    {
        const monitor_lock lock(guard_);
        if (!is_empty(held_) && locked_by_ == std::this_thread::get_id()) {
            if (limit == local_queue::for_ever) {
                throw error(errc::would_deadlock,
                            "this thread holds \"" + escaped(as->directory) +
                                "\" already: a mutex is not recursive; use a recursive_mutex");
            }
            return false;
        }
    }
    hold granted = acquire.acquire(as, limit, {});
    if (is_empty(granted)) {
        return false;
    }
    const monitor_lock lock(guard_);
    held_ = std::move(granted);
    locked_by_ = std::this_thread::get_id();
    return true;
}

void exclusive_lock::unlock() noexcept {
    if (forked()) {
        return;
    }
    hold released;
    const monitor_lock lock(guard_);
    locked_by_ = {};
    released = std::move(held_);
}

hold& exclusive_lock::held() {
    acquire.core()->check_not_forked();
    const monitor_lock lock(guard_);
    if (is_empty(held_)) {
        throw error(errc::hold_lost,
                    "\"" + escaped(as->directory) + "\" is not locked through this object");
    }
    return held_;
}

}  // namespace latchkey::inline v0
