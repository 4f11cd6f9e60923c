#include "confirmation.hpp"

namespace latchkey {

void confirmation::start() {
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
            // One proof is not enough after a standstill of this process.
            self->retry_.later([s = self.get()] { s->start(); });
        }
    });
}

}  // namespace latchkey
