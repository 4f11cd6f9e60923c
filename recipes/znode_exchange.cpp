#include "znode_exchange.hpp"

#include <utility>

namespace latchkey {

znode_exchange::znode_exchange(std::shared_ptr<client_core> core,
                               std::string from,
                               request to,
                               handler done)
    : core_(std::move(core)),
      from_(std::move(from)),
      to_(std::move(to)),
      done_(std::move(done)),
      retry_(core_->loop()) {}

void znode_exchange::send() {
    if (!core_->connected()) {
        return;
    }
    sent_ = true;
    core_->submit(request::multi({to_, request::remove(from_)}),
                  [self = shared_from_this()](const reply& r) { self->answered(r); });
}

void znode_exchange::answered(const reply& r) {
    sent_ = false;
    const auto code_of = [&r](std::size_t i) {
        return i < r.results.size() ? r.results[i].code : r.code;
    };
    if (r.ok() || code_of(0) == result_code::node_exists) {
        finish(result::done, {});
    } else if (r.code == result_code::no_node) {
        finish(result::gone, {});
    } else if (outcome_unknown(r.code) || r.code == result_code::throttled) {
        retry_.start(backoff_.next(core_->loop().random()), [weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && self->done_ && !self->sent_) {
                self->send();
            }
        });
    } else {
        finish(result::refused, failure_of(r.code, to_.path));
    }
}

void znode_exchange::finish(result what, failure why) {
    retry_.cancel();
    if (const auto done = std::exchange(done_, nullptr)) {
        done(what, std::move(why));
    }
}

}  // namespace latchkey
