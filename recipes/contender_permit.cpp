#include "contender.hpp"
#include "path.hpp"

// What the first in a semaphore's queue does instead of holding.

namespace latchkey {

void contender::admit() {
    enter(state::admitting);
    admission_->begin(znodes_.front()->path(), first_since_joining_, !settings_.only_if_first);
}

/// Next to be granted: it has to be believed then, and its znode has to be there.
void contender::on_waiting() {
    core_->heartbeat().demand(this, znodes_.front()->path());
    znodes_.front()->watch();
}

void contender::on_admitted(const std::vector<std::string>& paths) {
    set_znodes(paths);
    admission_.reset();
    core_->heartbeat().withdraw(this);
    confirm();
}

void contender::confirm() {
    confirmation_ =
        std::make_shared<confirmation>(core_, znodes_.front()->path(), [this](result_code code) {
            if (code == result_code::ok) {
                publish();
            } else if (code == result_code::no_node) {
                on_gone();
            } else if (core_->connected()) {
                timer_.start(backoff_.next(core_->loop().random()), [this] { confirm(); });
            }
        });
    confirmation_->start();
}

}  // namespace latchkey
