#include "lock/convert_call.hpp"

#include "client/unreachable.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <utility>

namespace latchkey::inline v0 {

call_aim convert_call::aim() const {
    return {"convert", {std::string(parent_of(held_->path()))}};
}

bool convert_call::is_confirmed() const {
    const auto& owner = held_->owner();
    return answered_ || !owner || owner->is_conversion_answered();
}

void convert_call::begin() {
    begun_ = true;
    if (const auto owner = held_->owner()) {
        owner->convert(
            to_, !only_looks(), [this, self = shared_from_this()](failure why, bool done) {
                finish({std::move(why), done});
            });
    } else {
        finish({{errc::hold_lost, "the hold was released"}});
    }
}

void convert_call::give_up() {
    if (!begun_) {
        finish({});
    } else if (const auto& owner = held_->owner()) {
        owner->cancel_conversion();
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
            } else if (outcome_unknown(r.code)) {
                told(unreachable_failure(
                    *held->core(), {"make sure of the hold", {held->path()}}, asked));
            } else {
                told(r.ok() ? failure() : failure_of(r.code, held->path()));
            }
        });
    }
}

}  // namespace latchkey::inline v0
