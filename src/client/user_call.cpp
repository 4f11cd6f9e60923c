#include "client/user_call.hpp"

namespace latchkey::inline v0 {

void limited_call::start_within(std::chrono::nanoseconds patience,
                                bool only_looks,
                                const std::stop_token& stop) {
    only_looks_ = only_looks;
    stop_ = stop;
    core_->post([self = shared_from_this(), patience] { self->begin_within(patience); });
    started_ = true;
}

void limited_call::begin_within(std::chrono::nanoseconds patience) {
    begun_ = core_->loop().now();
    if (core_->closed_why()) {
        client_closed(core_->closed_why());
        return;
    }
    if (stop_.stop_requested()) {
        giving_up_ = true;
        give_up();
        return;
    }
    if (const auto end = time_after(core_->loop(), patience);
        end != loop::clock::time_point::max()) {
        limit_.start(end, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->out_of_time();
            }
        });
    }
    begin();
    if (stop_.stop_possible() && !finished()) {
        on_stop_ =
            std::make_unique<std::stop_callback<loop::task>>(stop_, [weak = weak_from_this()] {
                if (const auto self = weak.lock()) {
                    self->cancel();
                }
            });
    }
}

void limited_call::cancel() {
    core_->post([self = shared_from_this()] {
        if (!self->finished() && !std::exchange(self->giving_up_, true)) {
            self->give_up();
        }
    });
}

void limited_call::out_of_time() {
    if (!std::exchange(giving_up_, true)) {
        unreachable_ = !is_confirmed();
        give_up();
    }
}

void limited_call::end_limits() noexcept {
    limit_.cancel();
    on_stop_.reset();
}

failure limited_call::why_not_reached() const {
    return stop_.stop_requested() ? failure()
                                  : failure_in_time(*core_, aim(), begun_, !unreachable_);
}

}  // namespace latchkey::inline v0
