#include "confirmation.hpp"

namespace latchkey {

void confirmation::start() {
    const auto keep = shared_from_this();
    if (core_->believable()) {
        done_(result_code::ok);
        return;
    }
    if (!core_->connected()) {
        return;
    }
    core_->submit(request::multi({request::check(path_)}),
                  [weak = weak_from_this()](const reply& r) {
                      const auto self = weak.lock();
                      if (!self) {
                          return;
                      }
                      if (!r.ok() || self->core_->believable()) {
                          self->done_(r.code);
                      } else {
                          // One proof is not enough after a standstill of this process.
                          self->retry_.start(self->backoff_.next(self->core_->loop().random()),
                                             [s = self.get()] { s->start(); });
                      }
                  });
}

}  // namespace latchkey
