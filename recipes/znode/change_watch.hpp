#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/session.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// For a task: watches what its reads see, until the first change of any of it. Ends when it and
/// its copies are destroyed. On the loop only.
class change_watch {
public:
    change_watch() = default;

    /// Sends a read that sets a watch.
    [[nodiscard]] oneshot<reply> send(client_core& core, request r) const {
        oneshot<reply> answer;
        core.submit(std::move(r), watcher_, answer.setter());
        return answer;
    }

    /// Waits until something that either of two watches has changed, or until there is another
    /// connection than that of the reads: then nothing is watched any more.
    [[nodiscard]] auto until_either_changes(client_core& core, const change_watch& other) const {
        return until_called_back([&core, a = state_, b = other.state_](const resumption& go_on) {
            if (a->event || b->event) {
                go_on();
            } else {
                a->waiting = go_on;
                b->waiting = go_on;
                core.at_next_connection(go_on);
            }
        });
    }

    /// The same for what this one watches.
    [[nodiscard]] auto until_changed(client_core& core) const {
        return until_either_changes(core, *this);
    }

    /// The first change.
    [[nodiscard]] const std::optional<watch_event>& event() const noexcept { return state_->event; }

    [[nodiscard]] bool has_fired() const noexcept { return event().has_value(); }

private:
    struct state {
        std::optional<watch_event> event;
        std::optional<resumption> waiting;
    };

    static void note(const std::shared_ptr<state>& s, watch_event e) {
        if (s && !s->event) {
            s->event = e;
            if (const auto go_on = std::exchange(s->waiting, std::nullopt)) {
                (*go_on)();
            }
        }
    }

    std::shared_ptr<state> state_ = std::make_shared<state>();
    std::shared_ptr<session::watcher> watcher_ =
        make_watcher([weak = std::weak_ptr(state_)](watch_event e) { note(weak.lock(), e); });
};

}  // namespace latchkey::inline v0
