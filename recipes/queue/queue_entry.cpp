#include "queue/queue_entry.hpp"

#include <utility>

namespace latchkey {

void queued_znode::wait(const std::shared_ptr<const participation>& as,
                        const std::string& ignored,
                        queue_rule rule) {
    turn::owner& self = *this;
    turn_ = std::make_shared<turn>(core_, as, path_, ignored, rule, self);
}

znode_watch& queued_znode::own_watch() {
    if (!watch_) {
        znode_watch::observer& self = *this;
        watch_ = std::make_shared<znode_watch>(core_, path_, self);
    }
    return *watch_;
}

void queued_znode::watch_again_if_not() {
    retry_.cancel();
    if (watch_ && !watch_->armed()) {
        watch_->arm();
    }
}

/// While it holds nothing else may tell that it is gone: the heartbeat tells of one znode only.
void queued_znode::on_watch_refused(result_code code) {
    if (core_->connected()) {  // else the next connection begins with this again
        retry_.later([this] { watch_again_if_not(); });
    }
    if (code == result_code::no_auth) {
        unreadable_ = true;
    }
}

}  // namespace latchkey
