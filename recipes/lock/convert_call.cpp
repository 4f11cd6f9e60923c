#include "lock/convert_call.hpp"

#include "client/unreachable.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

convert_call::convert_call(std::shared_ptr<hold_state> held, bool answered, handler done)
    : held_(std::move(held)),
      answered_(answered),
      done_(std::move(done)),
      limit_(held_->core()->loop()) {}

void convert_call::start(lock_mode to,
                         std::chrono::nanoseconds limit,
                         const std::stop_token& stop) {
    held_->core()->post(
        [self = shared_from_this(), to, limit, stop] { self->begin(to, limit, stop); });
}

void convert_call::cancel() {
    held_->core()->post([self = shared_from_this()] {
        if (self->done_ && self->held_->owner()) {
            self->held_->owner()->cancel_conversion();
        }
    });
}

void convert_call::out_of_time() {
    const auto& owner = held_->owner();
    unreachable_ = !answered_ && owner && !owner->is_conversion_answered();
    cancel();
}

void convert_call::begin(lock_mode to,
                         std::chrono::nanoseconds limit,
                         const std::stop_token& stop) {
    begun_ = held_->core()->loop().now();
    const auto owner = held_->owner();
    if (!owner) {
        finish({errc::hold_lost, "the hold was released"}, false);
        return;
    }
    if (stop.stop_requested()) {
        finish({}, false);
        return;
    }
    const bool wait = limit > std::chrono::nanoseconds::zero();
    owner->convert(to, wait, [self = shared_from_this()](failure why, bool done) {
        self->finish(std::move(why), done);
    });
    if (!done_) {
        return;
    }
    // A call that only tries waits for an answer for as long as the session timeout.
    const std::chrono::nanoseconds patience = wait ? limit : held_->core()->patience();
    if (const auto end = time_after(held_->core()->loop(), patience);
        end != loop::clock::time_point::max()) {
        limit_.start(end, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->out_of_time();
            }
        });
    }
    if (stop.stop_possible()) {
        stop_ = stop;
        on_stop_.emplace(stop, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->cancel();
            }
        });
    }
}

void convert_call::finish(failure why, bool done) {
    limit_.cancel();
    on_stop_.reset();
    if (!why && !done && !stop_.stop_requested()) {
        const call_aim aim{"convert", {std::string(parent_of(held_->path()))}};
        why = failure_in_time(*held_->core(), aim, begun_, !unreachable_);
    }
    if (const auto tell = std::exchange(done_, nullptr)) {
        tell(std::move(why), done);
    }
}

failure lost_hold(loss_reason why) {
    return {errc::hold_lost, to_string(why)};
}

void make_sure_held(const std::shared_ptr<hold_state>& held,
                    const std::function<void(failure)>& told) {
    if (!held->valid()) {
        told(lost_hold(held->why_lost()));
    } else if (!held->owner() || held->owner()->watch()) {
        told({});
    } else {
        const auto asked = held->core()->loop().now();
        held->core()->submit(request::get(held->path()), [held, told, asked](const reply& r) {
            if (!held->valid()) {
                told(lost_hold(held->why_lost()));
            } else if (r.code == result_code::no_node) {
                told(lost_hold(loss_reason::znode_deleted));
            } else if (r.ok() || r.code == result_code::no_auth) {
                told(r.ok() ? failure() : failure_of(r.code, held->path()));
            } else if (!outcome_unknown(r.code)) {
                told(failure_of(r.code, held->path()));
            } else {
                told(unreachable_failure(
                    *held->core(), {"make sure of the hold", {held->path()}}, asked));
            }
        });
    }
}

}  // namespace latchkey::inline v0
