#pragma once

#include <latchkey/lock_mode.hpp>

#include "client/user_call.hpp"
#include "hold/hold_state.hpp"

#include <functional>
#include <memory>
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
    [[nodiscard]] call_aim aim() const override;
    [[nodiscard]] bool is_confirmed() const override;
    void begin() override;
    void give_up() override;

    /// The hold tells what has become of it.
    void client_closed(const failure& /*why*/) override { begin(); }

    const std::shared_ptr<hold_state> held_;
    const lock_mode to_;
    const bool answered_;
    bool begun_ = false;
};

[[nodiscard]] failure lost_hold(loss_reason why);

/// Reports whether a hold has been lost: without a request if its znode is watched. After a change
/// of the znode's data, the read that sets the watch again may be in flight. It is answered first.
void make_sure_held(const std::shared_ptr<hold_state>& held,
                    const std::function<void(failure)>& told);

}  // namespace latchkey::inline v0
