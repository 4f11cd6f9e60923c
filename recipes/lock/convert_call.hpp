#pragma once

#include <latchkey/acquire_options.hpp>
#include <latchkey/hold.hpp>

#include "client/hold_state.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace latchkey::inline v0 {

/// One call that changes the mode of a hold, from its start to its result.
class convert_call : public std::enable_shared_from_this<convert_call> {
public:
    using handler = hold_owner::converted;

    /// `done` is called once, on the loop. `answered`: the servers have answered an earlier part of
    /// the same call. If they have not when the time is over, it fails with errc::unreachable.
    convert_call(std::shared_ptr<hold_state> held, bool answered, handler done);

    /// Any thread. A limit of zero means not to wait for other participants.
    void start(lock_mode to, std::chrono::nanoseconds limit, const std::stop_token& stop);

    /// Any thread. Ends the change if it waits.
    void cancel();

private:
    void out_of_time();
    void begin(lock_mode to, std::chrono::nanoseconds limit, const std::stop_token& stop);
    void finish(failure why, bool done);

    const std::shared_ptr<hold_state> held_;
    const bool answered_;
    handler done_;
    timer limit_;
    refusal_notes::time_point begun_{};
    bool unreachable_ = false;
    std::stop_token stop_;
    std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

[[nodiscard]] failure lost_hold(loss_reason why);

/// Reports whether a hold has been lost: without a request if its znode is watched. After a change
/// of the znode's data, the read that sets the watch again may be in flight. It is answered first.
void make_sure_held(const std::shared_ptr<hold_state>& held,
                    const std::function<void(failure)>& told);

}  // namespace latchkey::inline v0
