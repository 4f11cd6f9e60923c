#pragma once

#include <latchkey/lock_mode.hpp>

#include "client/unreachable.hpp"
#include "client/user_call.hpp"
#include "hold/hold_state.hpp"
#include "text/path.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace latchkey::inline v0 {

/// One call that changes the mode of a hold. A limit of zero means not to wait for other
/// participants.
class convert_call final : public user_call<bool> {
public:
    /// `answered`: the servers have answered an earlier part of the same call.
    convert_call(std::shared_ptr<hold_state> held, lock_mode to, bool answered)
        : user_call(held->core()), held_(std::move(held)), to_(to), answered_(answered) {}

private:
    [[nodiscard]] call_aim aim() const override {
        return {"convert", {std::string(parent_of(held_->path()))}};
    }

    [[nodiscard]] bool is_confirmed() const override {
        const auto& owner = held_->owner();
        return answered_ || !owner || owner->is_conversion_answered();
    }

    void begin() override {
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

    void give_up() override {
        if (!begun_) {
            finish({});
        } else if (const auto& owner = held_->owner()) {
            owner->cancel_conversion();
        }
    }

    /// The hold tells what has become of it.
    void client_closed(const failure& /*why*/) override { begin(); }

    const std::shared_ptr<hold_state> held_;
    const lock_mode to_;
    const bool answered_;
    bool begun_ = false;
};

[[nodiscard]] inline failure lost_hold(loss_reason why) {
    return {errc::hold_lost, to_string(why)};
}

/// Reports whether a hold has been lost: without a request if its znode is watched. After a change
/// of the znode's data, the read that sets the watch again may be in flight. It is answered first.
inline void make_sure_held(const std::shared_ptr<hold_state>& held,
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
