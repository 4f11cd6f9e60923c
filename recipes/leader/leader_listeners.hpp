#pragma once

#include <latchkey/leader_latch.hpp>

#include "client/client_core.hpp"
#include "client/failure.hpp"
#include "client/hold_state.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace latchkey {

/// Who wants to hear of a candidate's terms. On the loop, but for what says otherwise.
class leader_listeners {
public:
    explicit leader_listeners(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    /// A listener that may be told until it is ended.
    class registration;

    /// Any thread.
    [[nodiscard]] std::shared_ptr<registration> make(leader_latch::listener l) const;

    /// Any thread: ends it when destroyed, as a subscription does.
    [[nodiscard]] static subscription handle(std::shared_ptr<registration> r);

    /// `present`, if there is one, is told at once.
    void add(const std::shared_ptr<registration>& r, const leadership& present);

    void tell_elected(const leadership& term);

    /// Told when the term's lost() has been requested.
    void tell_lost(const leadership& term, loss why);

    void tell_refused(const failure& why);
    void tell_chosen();

    /// Any thread: nothing is told any more, not even what was handed over already.
    void silence() noexcept { silent_->store(true); }

private:
    template <class Event>
    void tell_all(const Event& event, hold_state* after_loss_of = nullptr);

    const std::shared_ptr<client_core> core_;
    const std::shared_ptr<std::atomic<bool>> silent_ = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::weak_ptr<registration>> registered_;
};

}  // namespace latchkey
