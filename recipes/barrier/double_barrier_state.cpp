#include "barrier/double_barrier_state.hpp"

#include "znode/stray_znode.hpp"

namespace latchkey::inline v0 {

void double_barrier_state::forget_own(const std::shared_ptr<client_core>& core) {
    if (unanswered > 0 && generation == core->generation()) {
        delete_stray(
            core, path_of(own), std::make_shared<znode_creates>(znode_creates{.may_come = true}));
    }
    own.clear();
    placed = false;
    unanswered = 0;
}

void double_barrier_state::delete_own(const std::shared_ptr<client_core>& core) {
    if (may_exist() && generation == core->generation()) {
        core->deletes().add(path_of(own), nullptr);
    }
    forget_own(core);
}

}  // namespace latchkey::inline v0
