#include "client/state_listeners.hpp"

#include "client/listener_slot.hpp"
#include "loop/fork_guard.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

void coalesce(std::vector<connection_state>& untold, connection_state next) {
    using enum connection_state;
    const auto ends_with = [&untold](connection_state s) {
        return !untold.empty() && untold.back() == s;
    };
    if (ends_with(suspended) && (next == reconnected || next == lost)) {
        untold.pop_back();
        if (next == reconnected && !ends_with(lost)) {
            return;
        }
    }
    if (next == lost && (ends_with(connected) || ends_with(reconnected)) &&
        std::find(untold.begin(), untold.end(), lost) != untold.end()) {
        untold.pop_back();
    }
    if (!ends_with(next)) {
        untold.push_back(next);
    }
}

class state_listeners::registration : public std::enable_shared_from_this<registration> {
public:
    explicit registration(client::state_listener l) : listener_(std::move(l)) {}

    void push(connection_state s, const executor& callbacks) {
        {
            const monitor_lock lock(mutex_);
            coalesce(untold_, s);
            if (std::exchange(scheduled_, true)) {
                return;
            }
        }
        callbacks([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->deliver();
            }
        });
    }

    void end() {
        if (born_ != fork_generation()) {
            new std::shared_ptr<registration>(shared_from_this());  // NOLINT: never destroyed
            return;
        }
        calls_.end();
        listener_ = nullptr;
    }

private:
    void deliver() {
        std::vector<connection_state> told;
        {
            const monitor_lock lock(mutex_);
            told.swap(untold_);
            scheduled_ = false;
        }
        for (const connection_state s : told) {
            calls_.call([&] {
                // A copy, because the listener may end its registration.
                if (const auto listener = listener_) {
                    listener(s);
                }
            });
        }
    }

    const std::uint64_t born_ = fork_generation();
    listener_slot calls_;
    client::state_listener listener_;  // guarded by calls_
    thread_mutex mutex_;
    std::vector<connection_state> untold_ LATCHKEY_GUARDED_BY(mutex_);
    bool scheduled_ LATCHKEY_GUARDED_BY(mutex_) = false;
};

std::shared_ptr<void> state_listeners::add(client::state_listener listener) {
    auto added = std::make_shared<registration>(std::move(listener));
    {
        const monitor_lock lock(mutex_);
        std::erase_if(registered_, [](const auto& weak) { return weak.expired(); });
        registered_.push_back(added);
    }
    // The user's handle ends the registration. A call that runs may outlive the handle for a
    // moment.
    return {added.get(), [added](void*) { added->end(); }};
}

void state_listeners::notify(connection_state s) {
    std::vector<std::weak_ptr<registration>> all;
    {
        const monitor_lock lock(mutex_);
        all = registered_;
    }
    for (const auto& weak : all) {
        if (const auto r = weak.lock()) {
            r->push(s, callbacks_);
        }
    }
}

}  // namespace latchkey::inline v0
