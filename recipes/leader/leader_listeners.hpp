#pragma once

#include <latchkey/client.hpp>

#include "client/client_core.hpp"
#include "client/fork_safe.hpp"
#include "client/listener_slot.hpp"
#include "hold/hold_state.hpp"
#include "loop/monitor.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// Calls a function that the user may have left out.
template <class F, class... Args>
void call_if_given(const F& function, const Args&... args) {
    if (function) {
        function(args...);
    }
}

/// The listeners of one of the user's objects in an election, which the callback thread calls. Any
/// thread.
template <class Listener>
class leader_listeners {
public:
    /// What happened: tells one listener.
    using event = std::function<void(Listener&)>;

    explicit leader_listeners(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    /// Calls `l` from now on, first with the last event if that lasts, until the result is
    /// destroyed.
    [[nodiscard]] subscription add(Listener l) {
        const auto added = fork_safe<registration>(core_, std::move(l));
        const monitor_lock lock(guard_);
        std::erase_if(registered_, [](const auto& weak) { return weak.expired(); });
        registered_.push_back(added);
        if (present_) {
            core_->call([added, e = present_] { added->call(e); });
        }
        // A call that runs may outlive the subscription for a moment.
        return subscription(std::shared_ptr<void>(added.get(), [added](void*) {
            if (!added->core->forked()) {
                added->calls.end();
            }
        }));
    }

    /// `lasts`: what those have to know, too, who begin to listen before the next event. After a
    /// loss of a hold: when its lost() was requested.
    void notify(const event& e, bool lasts, hold_state* after_loss_of = nullptr) {
        const monitor_lock lock(guard_);
        present_ = lasts && !silent_ ? e : nullptr;
        for (const auto& weak : registered_) {
            auto told = silent_ ? nullptr : weak.lock();
            if (told && after_loss_of != nullptr) {
                after_loss_of->call_after_loss([told, e] { told->call(e); });
            } else if (told) {
                core_->call([told = std::move(told), e] { told->call(e); });
            }
        }
    }

    /// No listener is called any more, not even with events that were handed over already.
    void silence() noexcept {
        for (const auto& r : silenced()) {
            r->calls.silence();
        }
    }

    /// As silence(), and waits until no listener is running, unless a listener itself calls this.
    void end() noexcept {
        for (const auto& r : silenced()) {
            r->calls.end();
        }
    }

private:
    struct registration {
        registration(const std::shared_ptr<client_core>& c, Listener l)
            : core(c), listener(c->callbacks().keep(std::move(l))) {}

        void call(const event& e) {
            calls.call([&] { e(*listener); });
        }

        const std::shared_ptr<client_core> core;
        const std::shared_ptr<Listener> listener;
        listener_slot calls;
    };

    [[nodiscard]] std::vector<std::shared_ptr<registration>> silenced() {
        std::vector<std::shared_ptr<registration>> all;
        const monitor_lock lock(guard_);
        silent_ = true;
        present_ = nullptr;
        for (const auto& weak : registered_) {
            if (auto r = weak.lock()) {
                all.push_back(std::move(r));
            }
        }
        return all;
    }

    const std::shared_ptr<client_core> core_;
    thread_mutex guard_;
    std::vector<std::weak_ptr<registration>> registered_ LATCHKEY_GUARDED_BY(guard_);
    event present_ LATCHKEY_GUARDED_BY(guard_);  ///< the last event, if it lasts
    bool silent_ LATCHKEY_GUARDED_BY(guard_) = false;
};

}  // namespace latchkey::inline v0
