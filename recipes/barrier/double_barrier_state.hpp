#pragma once

#include "barrier/double_barrier_round.hpp"
#include "client/retrying_call.hpp"
#include "queue/queue_recipe.hpp"
#include "text/path.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v0 {

/// The state of a double_barrier object between its calls. Used on the loop only, unless noted.
struct double_barrier_state {
    enum class state : std::uint8_t { outside, entering, inside, leaving };

    double_barrier_state(queue_recipe p, std::uint32_t participants)
        : as(std::move(p)), wanted(participants) {}

    const queue_recipe as;
    const std::uint32_t wanted;

    std::atomic<state> now = state::outside;  ///< any thread
    std::atomic<std::int64_t> session{0};     ///< the session in which it entered; any thread
    bool abandoned = false;  ///< the object was destroyed, so no call can leave any more
    bool directory_known = false;
    std::int64_t directory = 0;  ///< its czxid; a new directory has versions of its own
    double_barrier_round round;

    std::string own;               ///< the name of its znode
    std::uint64_t generation = 0;  ///< the generation of that znode
    bool placed = false;           ///< the znode exists, as far as this client knows
    /// Creates of the znode without an answer that shows whether they were applied.
    std::uint32_t unanswered = 0;

    [[nodiscard]] std::string path_of(std::string_view name) const {
        return join_path(as.directory, name);
    }

    [[nodiscard]] bool may_exist() const noexcept { return placed || unanswered > 0; }

    /// The own znode is gone. The name is not used again, because other participants may have
    /// counted it.
    void forget_own(const std::shared_ptr<client_core>& core);

    /// The own znode is not wanted any more.
    void delete_own(const std::shared_ptr<client_core>& core);
};

using double_barrier_call = std::shared_ptr<retrying_call<bool>>;

/// Takes a place, and waits for its round to begin.
[[nodiscard]] double_barrier_call enter_call(std::shared_ptr<client_core> core,
                                             std::shared_ptr<double_barrier_state> at);

/// Gives up the own place, and waits for the other participants of the round.
[[nodiscard]] double_barrier_call leave_call(std::shared_ptr<client_core> core,
                                             std::shared_ptr<double_barrier_state> at);

}  // namespace latchkey::inline v0
