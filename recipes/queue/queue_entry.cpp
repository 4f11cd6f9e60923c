#include "queue/queue_entry.hpp"

#include <utility>

namespace latchkey {

void queue_entry::wait(const std::shared_ptr<const queue_recipe>& as,
                       const std::string& ignored,
                       queue_rule rule) {
    turn::owner& self = *this;
    turn_ = std::make_shared<turn>(core_, as, path_, ignored, rule, self);
}

znode_watch& queue_entry::own_watch() {
    if (!watch_) {
        znode_watch::observer& self = *this;
        watch_ = std::make_shared<znode_watch>(core_, path_, self);
    }
    return *watch_;
}

void queue_entry::watch_again_if_not() {
    retry_.cancel();
    if (watch_ && !watch_->armed()) {
        watch_->arm();
    }
}

/// While it holds nothing else may tell that it is gone: the heartbeat tells of one znode only.
void queue_entry::on_watch_refused(result_code code) {
    if (core_->connected()) {  // else the next connection begins with this again
        retry_.later([this] { watch_again_if_not(); });
    }
    if (code == result_code::no_auth) {
        unreadable_ = true;
    }
}

}  // namespace latchkey
