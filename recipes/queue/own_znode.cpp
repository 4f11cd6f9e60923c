#include "queue/own_znode.hpp"

#include <chrono>

namespace latchkey::inline v0 {

void own_znode::watch() {
    wanted_ = true;
    arm();
}

void own_znode::watch_again_if_not() {
    if (retry_) {
        retry_->cancel();
    }
    if (wanted_ && !armed()) {
        arm();
    }
}

/// While the participant holds, nothing else may report that this znode is gone: the heartbeat
/// checks one znode of a client at a time.
void own_znode::on_watch_refused(result_code code) {
    if (core().connected()) {  // else the next connection begins with this again
        if (!retry_) {
            retry_ = std::make_unique<paced_retry>(core().loop(), std::chrono::seconds(5));
        }
        retry_->later([this] { watch_again_if_not(); });
    }
    if (code == result_code::no_auth) {
        unreadable_ = true;
    }
}

}  // namespace latchkey::inline v0
