#pragma once

#include "queue/acquire_calls.hpp"
#include "queue/queue_recipe.hpp"
#include "semaphore/permits.hpp"

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
    permit_demand(const std::string& path, std::optional<std::uint32_t> most, bool is_curators)
        : semaphore(path),
          directory(path + (is_curators ? "/leases" : "/permits")),
          limit(most),
          limit_was_right(std::make_shared<std::atomic<bool>>(is_curators)),
          leases(is_curators) {}

    std::string semaphore;  ///< the path of the semaphore; its data is the limit
    std::string directory;  ///< the directory of the permits that are taken
    std::uint32_t count = 1;
    std::optional<std::uint32_t> limit;  ///< the limit that it must have, unless ...
    /// ... it had that limit once, for a participant that shares this demand: it was resized since
    /// then.
    std::shared_ptr<std::atomic<bool>> limit_was_right;
    /// Curator's form: a znode for each permit, every child of the directory counts as one, and the
    /// limit is not stored.
    bool leases;

    [[nodiscard]] std::unique_ptr<last_step> make_step(
        std::shared_ptr<client_core> core,
        std::shared_ptr<const queue_recipe> recipe,
        std::function<void(failure)> refused) const override;

    [[nodiscard]] directory_creation create_directories(client_core& core,
                                                        const queue_recipe& recipe) const override;

    /// The limit, given the data of the semaphore; nothing if that is not a limit.
    [[nodiscard]] std::optional<std::uint32_t> limit_in(std::string_view data) const noexcept;

    /// How many permits a child of the directory stands for.
    [[nodiscard]] std::uint32_t permits_in(std::string_view name) const noexcept;

    /// How many permits are taken, given the children of the directory.
    [[nodiscard]] std::uint64_t taken(const std::vector<std::string>& names) const noexcept;

    [[nodiscard]] failure not_a_semaphore() const;
    [[nodiscard]] failure more_than(std::uint32_t most) const;
};

/// Throws errc::invalid_argument unless `permits` is from 1 to `most`.
void check_permits(std::uint32_t permits, const char* what, std::uint32_t most = most_permits);

/// The calls of a semaphore. Any thread.
struct permit_calls {
    /// Throws errc::invalid_argument.
    permit_calls(const std::shared_ptr<client_core>& core, permit_demand d, lock_options options);

    /// How an acquire of this many permits takes part. Throws errc::invalid_argument.
    [[nodiscard]] std::shared_ptr<const queue_recipe> recipe(std::uint32_t permits) const;

    /// The answers to a get of the semaphore, if it stores its limit, and to these reads, which may
    /// be that a znode does not exist. Throws refusals, and if there is no semaphore.
    [[nodiscard]] std::vector<reply> look(std::vector<request> questions) const;

    /// Given the first of these answers. Throws errc::not_a_semaphore.
    [[nodiscard]] std::uint32_t limit_in(const reply& first) const;

    [[nodiscard]] std::uint32_t available() const;

    /// The holders and then the waiters.
    [[nodiscard]] std::vector<participant> participants() const;

    [[nodiscard]] bool revoke(const participant& whom) const;

    const permit_demand demand;
    const queue_recipe queue;
    const acquire_calls acquire;
};

}  // namespace latchkey::inline v0
