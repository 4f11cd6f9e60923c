#pragma once

#include "queue/queue_recipe.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace latchkey {

/// What a participant of a semaphore wants once it is the first.
struct permit_terms final : grant_terms {
    std::string semaphore;  ///< its data is the limit
    std::string directory;  ///< of the permits that are taken
    std::uint32_t count = 1;
    std::optional<std::uint32_t> limit;  ///< what it must be, unless ...
    /// ... it was once: by one who shares these terms. It may have been resized since.
    std::shared_ptr<std::atomic<bool>> limit_was_right = std::make_shared<std::atomic<bool>>(false);
    /// Curator's: a znode for each permit, every child of the directory counts for one, and the
    /// limit is stored nowhere.
    bool leases = false;

    [[nodiscard]] std::shared_ptr<grant_step> make_step(std::shared_ptr<client_core> core,
                                                        std::shared_ptr<const queue_recipe> as,
                                                        const std::string& prefix,
                                                        grant_step::owner& o) const override;

    void create_directories(client_core& core,
                            const queue_recipe& as,
                            const session::completion& answered) const override;
};

/// `as` for so many permits.
[[nodiscard]] std::shared_ptr<const queue_recipe> with_permits(const queue_recipe& as,
                                                               const permit_terms& terms,
                                                               std::uint32_t count);

}  // namespace latchkey
