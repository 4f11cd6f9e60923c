#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "hold/hold_state.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// The listeners of a candidate's terms. Used on the loop only, unless noted.
class leader_listeners {
public:
    explicit leader_listeners(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    /// A listener, which is called until its registration ends.
    class registration;

    /// Any thread.
    [[nodiscard]] std::shared_ptr<registration> make(leader_latch::listener l) const;

    /// Any thread. Destroying the subscription ends the registration.
    [[nodiscard]] static subscription handle(std::shared_ptr<registration> r);

    /// If there is a `present` term, it is reported at once.
    void add(const std::shared_ptr<registration>& r, const leadership& present);

    void tell_elected(const leadership& term);

    /// Call this after lost() of the term has been requested.
    void tell_lost(const leadership& term, loss_reason why);

    void tell_refused(const failure& why);
    void tell_chosen();

    /// Any thread. No listener is called any more, not even for events that were handed over
    /// already.
    void silence() noexcept { silent_->store(true); }

private:
    template <class Event>
    void tell_all(const Event& event, hold_state* after_loss_of = nullptr);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<std::atomic<bool>> silent_ = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::weak_ptr<registration>> registered_;
};

}  // namespace latchkey::inline v0
