#include "queue/quorum_check.hpp"

namespace latchkey {

void quorum_check::start() {
    const auto keep = shared_from_this();
    if (core_->believable() && !look_for_them_) {
        done_(result_code::ok);
        return;
    }
    if (!core_->connected()) {
        return;
    }
    std::vector<request> checks;
    for (const std::string& path : znodes_) {
        checks.push_back(request::check(path));
    }
    core_->submit(request::multi(std::move(checks)), [weak = weak_from_this()](const reply& r) {
        const auto self = weak.lock();
        if (!self) {
            return;
        }
        if (!r.ok() || self->core_->believable()) {
            self->done_(r.code);
        } else {
            // A chain takes two writes, and is worth less the longer the second one waits.
            self->next_.start(self->core_->session_validity()->timeout() / 16,
                              [s = self.get()] { s->start(); });
        }
    });
}

}  // namespace latchkey
