#pragma once

#include <latchkey/lock_mode.hpp>

#include "queue/acquire_calls.hpp"
#include "queue/queue_recipe.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace latchkey::inline v0 {

/// The calls of a shared_mutex, by the mode that they ask for.
class read_write_calls {
public:
    read_write_calls(const std::shared_ptr<client_core>& core, queue_recipe p)
        : acquire(core, local_queue::admits::everybody) {
        const queue_options one = p.options();
        for (const auto m : {lock_mode::shared, lock_mode::upgrade, lock_mode::exclusive}) {
            p.mode = m;
            p.set_options([&](queue_options& own) {
                own.lock_delay = m == lock_mode::shared ? one.lock_delay.zero() : one.lock_delay;
            });
            recipe_.at(static_cast<std::size_t>(m)) = std::make_shared<const queue_recipe>(p);
        }
        if (p.takes_turns()) {
            writers_.emplace(core, recipe(lock_mode::exclusive));
        }
    }

    /// With turns, writers wait for each other in this object. An upgrade hold is a participant of
    /// its own, because it becomes a hold of another mode.
    [[nodiscard]] const acquire_calls& calls(lock_mode m) const {
        return writers_ && m == lock_mode::exclusive ? *writers_ : acquire;
    }

    [[nodiscard]] const std::shared_ptr<const queue_recipe>& recipe(lock_mode m) const {
        return recipe_.at(static_cast<std::size_t>(m));
    }

    const acquire_calls acquire;  ///< each call is a participant

private:
    std::array<std::shared_ptr<const queue_recipe>, 3> recipe_;
    std::optional<acquire_calls> writers_;
};

}  // namespace latchkey::inline v0
