#include "client/client_status.hpp"

#include <utility>

namespace latchkey::inline v0 {

bool client_status::set_state(connection_state s) {
    if (state_.exchange(s, std::memory_order_acq_rel) == s) {
        return false;
    }
    notify();
    return true;
}

void client_status::set_closed(failure why) {
    {
        const monitor_lock lock(mutex_);
        closed_why_ = std::move(why);
    }
    set_state(connection_state::closed);
}

void client_status::set_trouble(std::string text) {
    const monitor_lock lock(mutex_);
    trouble_ = std::move(text);
}

std::string client_status::trouble() const {
    const monitor_lock lock(mutex_);
    return trouble_;
}

/// The empty section orders the news before the next look of a thread that is about to wait.
void client_status::notify() {
    { const monitor_lock lock(mutex_); }
    changed_.notify_all();
}

bool client_status::wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop) {
    const auto deadline = deadline_after(limit);
    const std::stop_callback wake(stop, [this] { notify(); });
    monitor_lock lock(mutex_);
    while (true) {
        const connection_state s = state();
        if (s == connection_state::connected || s == connection_state::reconnected) {
            return true;
        }
        if (s == connection_state::closed) {
            closed_why_.raise();
        }
        if (stop.stop_requested() || !lock.wait_until(changed_, deadline)) {
            return false;
        }
    }
}

}  // namespace latchkey::inline v0
