#include "znode_exchange.hpp"

#include <utility>

namespace latchkey {

znode_exchange::znode_exchange(
    std::shared_ptr<client_core> core, request to, request guard, std::string from, handler done)
    : core_(std::move(core)),
      to_(std::move(to)),
      guard_(std::move(guard)),
      from_(std::move(from)),
      done_(std::move(done)),
      retry_(core_->loop()) {}

void znode_exchange::send() {
    if (!core_->connected()) {
        return;
    }
    sent_ = true;
    core_->submit(request::multi({to_, guard_, request::remove(from_)}),
                  [self = shared_from_this()](const reply& r) { self->answered(r); });
}

void znode_exchange::answered(const reply& r) {
    enum : std::size_t { creation, guard, removal };

    sent_ = false;
    const auto refused = [&r](std::size_t i, result_code code) {
        return i < r.results.size() && r.results[i].code == code;
    };
    // The creation comes first: whatever else has changed since, it tells that it was done before.
    if (r.ok() || refused(creation, result_code::node_exists)) {
        finish(result::done, {});
    } else if (refused(removal, result_code::no_node)) {
        finish(result::gone, {});
    } else if (refused(guard, result_code::bad_version) || refused(guard, result_code::no_node) ||
               refused(creation, result_code::no_node)) {
        finish(result::guard_failed, {});
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
