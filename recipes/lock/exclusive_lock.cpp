#include "lock/exclusive_lock.hpp"

#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

bool exclusive_lock::lock_within(std::chrono::nanoseconds limit) {
    acquire.core().check_not_forked();  // a thread of the parent may have held the guard
    if (kept_.of_this_thread() != nullptr) {
        if (limit == no_timeout) {
            throw error(errc::would_deadlock,
                        "this thread holds \"" + escaped(recipe->directory) +
                            "\" already: a mutex is not recursive; use a recursive_mutex");
        }
        return false;
    }
    hold granted = acquire.acquire_within(recipe, limit, {});
    if (is_empty(granted)) {
        return false;
    }
    kept_.keep(std::move(granted));
    return true;
}

void exclusive_lock::unlock() noexcept {
    if (!forked()) {
        static_cast<void>(kept_.take());
    }
}

hold& exclusive_lock::held() {
    acquire.core().check_not_forked();
    hold* const kept = kept_.look();
    if (kept == nullptr) {
        throw error(errc::hold_lost,
                    "\"" + escaped(recipe->directory) + "\" is not locked through this object");
    }
    return *kept;
}

}  // namespace latchkey::inline v0
