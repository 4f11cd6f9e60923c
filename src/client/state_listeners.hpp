#pragma once

#include <latchkey/client.hpp>

#include "loop/monitor.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace latchkey::inline v0 {

/// Adds `next` to the states that a listener has not received yet. A suspension that is over before
/// it was delivered is left out, and so is a connection that was lost again. `lost` and `closed`
/// never are. The list always stays short.
void coalesce(std::vector<connection_state>& untold, connection_state next);

/// The listeners of a client's state. Any thread.
class state_listeners {
public:
    using executor = std::function<void(std::function<void()>)>;

    explicit state_listeners(executor callbacks) : callbacks_(std::move(callbacks)) {}

    [[nodiscard]] std::shared_ptr<void> add(client::state_listener listener);
    void notify(connection_state s);

private:
    class registration;

    const executor callbacks_;
    thread_mutex mutex_;
    std::vector<std::weak_ptr<registration>> registered_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v0
