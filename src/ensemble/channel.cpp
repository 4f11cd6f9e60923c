#include "ensemble/channel.hpp"

#include <utility>

namespace latchkey::model {

void channel::send(std::shared_ptr<void> whole, loop::task deliver, loop::clock::duration latency) {
    if (closed_) {
        return;
    }
    messages_.push_back(std::move(deliver));
    // When it is due, an arrival delivers the oldest message. That keeps the order without
    // comparing times.
    receiver_->start_timer(receiver_->now() + latency,
                           [this, whole = std::move(whole)] { arrive(); });
}

void channel::arrive() {
    if (messages_.empty()) {
        return;
    }
    if (held_) {
        ++overdue_;
        return;
    }
    const loop::task deliver = std::move(messages_.front());
    messages_.pop_front();
    deliver();
}

void channel::hold(bool on, const std::shared_ptr<void>& whole) {
    held_ = on;
    for (; !held_ && overdue_ > 0; --overdue_) {
        receiver_->start_timer(receiver_->now(), [this, whole] { arrive(); });
    }
}

void channel::close() {
    closed_ = true;
    messages_.clear();
}

void channel::keep(std::size_t count) {
    while (messages_.size() > count) {
        messages_.pop_back();
    }
}

}  // namespace latchkey::model
