#include "barrier/double_barrier_state.hpp"

#include "znode/stray_znode.hpp"

namespace latchkey::inline v0 {

void double_barrier_state::forget_own(const std::shared_ptr<client_core>& core) {
    if (unanswered > 0 && generation == core->generation()) {
        stray_znode::await(core, path_of(own));
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
