#pragma once

#include "queue/acquire_calls.hpp"
#include "queue/queue_recipe.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v0 {

/// What a participant of a semaphore asks for when it is the first.
struct permit_demand final : last_step_maker {
    std::string semaphore;  ///< the path of the semaphore; its data is the limit
    std::string directory;  ///< the directory of the permits that are taken
    std::uint32_t count = 1;
    std::optional<std::uint32_t> limit;  ///< the limit that it must have, unless ...
    /// ... it had that limit once, for a participant that shares this demand: it was resized since
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

    /// How many permits a child of the directory stands for.
    [[nodiscard]] std::uint32_t permits_in(std::string_view name) const noexcept;

    /// How many permits are taken, given the children of the directory.
    [[nodiscard]] std::uint64_t taken(const std::vector<std::string>& names) const noexcept;

    /// How many of `most` permits are not taken.
    [[nodiscard]] std::uint32_t free_of(std::uint32_t most,
                                        const std::vector<std::string>& names) const noexcept;
};

/// The calls of a semaphore. Any thread.
struct permit_calls {
    /// Throws errc::invalid_argument. `name`: of the queue's directory below the semaphore.
    permit_calls(const std::shared_ptr<client_core>& core,
                 permit_demand d,
                 const std::string& name,
                 const queue_markers& markers,
                 lock_options options);

    /// How an acquire of this many permits takes part.
    [[nodiscard]] std::shared_ptr<const queue_recipe> with(std::uint32_t permits) const;

    /// The answers to these reads, which may be that a znode does not exist. Throws refusals.
    [[nodiscard]] std::vector<reply> read(const std::vector<request>& questions) const;

    /// The holders and then the waiters, given the names of both.
    [[nodiscard]] std::vector<participant> participants(
        const std::vector<std::string>& holders, const std::vector<std::string>& waiters) const;

    [[nodiscard]] bool revoke(const participant& whom) const;

    const permit_demand demand;
    const queue_recipe queue;
    const acquire_calls acquire;
};

}  // namespace latchkey::inline v0
