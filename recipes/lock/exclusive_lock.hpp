#pragma once

#include "lock/kept_holds.hpp"
#include "queue/acquire_calls.hpp"
#include "queue/znode_names.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// How a lock of one path takes part: alone in the queue of a directory that is used for locks
/// only.
[[nodiscard]] inline queue_recipe mutex_queue_of(const client_core& core,
                                                 std::string path,
                                                 lock_options options) {
    queue_recipe recipe = queue_recipe_of(
        core, std::move(path), lock_names, std::move(options), nullptr, local_turns::allowed);
    recipe.notes->long_from = core.long_queue();
    return recipe;
}

/// The common part of the locks that one thread at a time holds: one participant per object, and
/// the holds that lock() keeps. Any thread.
class exclusive_lock {
public:
    exclusive_lock(const std::shared_ptr<client_core>& core, queue_recipe p)
        : recipe(std::make_shared<const queue_recipe>(std::move(p))), acquire(core, recipe) {}

    /// Returns false when the time is over. Throws errc::would_deadlock if its own thread has the
    /// lock and it would wait forever.
    [[nodiscard]] bool lock_within(std::chrono::nanoseconds limit) {
        acquire.core().check_not_forked();  // a thread of the parent may have held the guard
        return !kept_.would_deadlock(
                   limit, recipe->directory, "a mutex is not recursive; use a recursive_mutex") &&
               kept_.keep(acquire.acquire_within(recipe, limit, {}));
    }

    void unlock() noexcept {
        if (!acquire.core().forked()) {
            static_cast<void>(kept_.take());
        }
    }

    /// The hold of this thread's lock(), or of the present one.
    [[nodiscard]] hold& held() {
        acquire.core().check_not_forked();
        return kept_.look(recipe->directory);
    }

    const std::shared_ptr<const queue_recipe> recipe;
    const acquire_calls acquire;

private:
    kept_holds kept_;
};

}  // namespace latchkey::inline v0
