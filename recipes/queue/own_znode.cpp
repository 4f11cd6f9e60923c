#include "queue/own_znode.hpp"

namespace latchkey::inline v0 {

void own_znode::watch() {
    wanted_ = true;
    watch_->arm();
}

void own_znode::watch_again_if_not() {
    retry_.cancel();
    if (wanted_ && !watch_->armed()) {
        watch_->arm();
    }
}

/// While the participant holds, nothing else may report that this znode is gone: the heartbeat
/// checks one znode of a client at a time.
void own_znode::on_watch_refused(result_code code) {
    if (core_->connected()) {  // else the next connection begins with this again
        retry_.later([this] { watch_again_if_not(); });
    }
    if (code == result_code::no_auth) {
        unreadable_ = true;
    }
}

}  // namespace latchkey::inline v0
