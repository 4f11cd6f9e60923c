#include "queue/queue_participant.hpp"
#include "leader/leader_grant.hpp"
#include "text/path.hpp"
#include "semaphore/permit_grant.hpp"

#include <utility>

// What the first in a semaphore's queue, or in that of an election, does before it holds.

namespace latchkey {

std::shared_ptr<admission> contender::make_admission() {
    admission::owner& self = *this;
    if (settings_.as->permits) {
        return std::make_shared<permit_admission>(core_, settings_.as, create_->prefix(), self);
    }
    if (settings_.as->leads) {
        return std::make_shared<leader_admission>(core_, settings_.as, self);
    }
    return nullptr;
}

void contender::admit() {
    enter(state::admitting);
    admission_->begin({.path = znodes_.front()->path(),
                       .zxid = zxid_,
                       .first_since = first_since_joining_,
                       .wait = !settings_.only_if_first});
}

/// Next to be granted: it has to be believed then, and its znode has to be there.
void contender::on_waiting() {
    core_->heartbeat().demand(this, znodes_.front()->path());
    znodes_.front()->watch();
}

void contender::on_admitted(admission::grant g) {
    if (g.paths != paths()) {
        set_znodes(g.paths);
    }
    zxid_ = g.zxid != 0 ? g.zxid : zxid_;
    record_ = g.record;
    admission_.reset();
    core_->heartbeat().withdraw(this);
    confirm(g.found);
}

void contender::confirm(bool look_for_them) {
    confirmation_ = std::make_shared<confirmation>(
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
