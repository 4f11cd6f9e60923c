#pragma once

#include <latchkey/lock_mode.hpp>

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/own_znode.hpp"
#include "queue/queue_recipe.hpp"
#include "queue/queue_wait.hpp"
#include "session/failure.hpp"
#include "znode/znode_swap.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// One change of the mode of a participant that holds. On the loop only, in one session; ends,
/// without another call, when it is destroyed.
///
/// To shared: Curator's downgrade, in one transaction, a reader with the writer's number. To
/// exclusive, for an upgrader: everything later waits for it already, and nothing can come before
/// it; what is left to wait for are the readers ahead.
class mode_change final : queue_wait::owner {
public:
    struct end {
        step_end what = step_end::refused;
        failure why = {};
        std::string new_path = {};  ///< if another znode is held from now on
    };

    /// `z` is the znode that is held. `done` may destroy this object.
    mode_change(std::shared_ptr<client_core> core,
                std::shared_ptr<const queue_recipe> recipe,
                own_znode& z,
                std::function<void(end)> done)
        : core_(std::move(core)), recipe_(std::move(recipe)), znode_(z), done_(std::move(done)) {}

    /// To exclusive: `wait` for those that are ahead, if there are any.
    void start(lock_mode to, bool wait) {
        may_wait_ = wait;
        running_.start(to == lock_mode::shared ? swap_for_reader() : wait_for_readers(), done_);
    }

    /// A list has shown who is ahead, since the change began.
    [[nodiscard]] bool is_answered() const noexcept { return answered_; }

    /// The transaction is under way: it is not known which of two znodes is held.
    [[nodiscard]] bool is_swapping() const noexcept { return swapping_; }

private:
    // queue_wait::owner
    bool on_placed(own_znode&, const queue_verdict& v) override {
        answered_ = true;
        return may_wait_ || v.ahead == 0;
    }

    [[nodiscard]] task<end> swap_for_reader();
    [[nodiscard]] task<end> wait_for_readers();

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<const queue_recipe> recipe_;
    own_znode& znode_;
    const std::function<void(end)> done_;
    bool may_wait_ = false;
    bool answered_ = false;
    bool swapping_ = false;
    running_task running_;
};

}  // namespace latchkey::inline v0
