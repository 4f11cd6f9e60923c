#include "queue/queue_participant.hpp"
#include "text/path.hpp"

#include <utility>

// What the first in the queue does before it holds.

namespace latchkey {

void queue_participant::admit() {
    enter(state::admitting);
    admission_->begin({.path = znodes_.front()->path(),
                       .zxid = zxid_,
                       .first_since = first_since_joining_,
                       .wait = !settings_.only_if_first});
}

/// Next to be granted: it has to be believed then, and its znode has to be there.
void queue_participant::on_waiting() {
    core_->heartbeat().demand(this, znodes_.front()->path());
    znodes_.front()->watch();
}

void queue_participant::on_admitted(grant_step::grant g) {
    if (g.paths != paths()) {
        set_znodes(g.paths);
    }
    zxid_ = g.zxid != 0 ? g.zxid : zxid_;
    admission_.reset();
    core_->heartbeat().withdraw(this);
    confirm(g.found);
}

void queue_participant::confirm(bool look_for_them) {
    confirmation_ = std::make_shared<quorum_check>(
        core_,
        paths(),
        [this, look_for_them](result_code code) {
            if (code == result_code::ok) {
                publish();
            } else if (code == result_code::no_node) {
                on_gone();
            } else if (core_->connected()) {
                retry_.later([this, look_for_them] { confirm(look_for_them); });
            }
        },
        look_for_them);
    confirmation_->start();
}

}  // namespace latchkey
