#pragma once

#include "queue/acquire_calls.hpp"
#include "queue/queue_recipe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::inline v0 {

/// What a participant of a semaphore asks for when it is the first.
struct permit_terms final : grant_terms {
    std::string semaphore;  ///< the path of the semaphore; its data is the limit
    std::string directory;  ///< the directory of the permits that are taken
    std::uint32_t count = 1;
    std::optional<std::uint32_t> limit;  ///< the limit that it must have, unless ...
    /// ... it had that limit once, for a participant that shares these terms: it was resized since
    /// then.
    std::shared_ptr<std::atomic<bool>> limit_was_right = std::make_shared<std::atomic<bool>>(false);
    /// Curator's form: a znode for each permit, every child of the directory counts as one, and the
    /// limit is not stored.
    bool leases = false;

    [[nodiscard]] std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> recipe,
        const std::string& prefix,
        std::function<void(failure)> refused) const override;

    [[nodiscard]] directory_creation create_directories(client_core& core,
                                                        const queue_recipe& recipe) const override;

    [[nodiscard]] std::uint64_t taken(const std::vector<std::string>& names) const noexcept;
};

/// The calls of a semaphore. Any thread.
struct permit_calls {
    /// Throws errc::invalid_argument. `name`: of the queue's directory below the semaphore.
    permit_calls(const std::shared_ptr<client_core>& core,
                 permit_terms t,
                 const std::string& name,
                 const queue_markers& markers,
                 lock_options options);

    /// How an acquire of this many permits takes part.
    [[nodiscard]] std::shared_ptr<const queue_recipe> with(std::uint32_t permits) const;

    const permit_terms terms;
    const queue_recipe queue;
    const acquire_calls acquire;
};

}  // namespace latchkey::inline v0
