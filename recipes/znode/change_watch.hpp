#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/session.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace latchkey::inline v0 {

/// For a task: watches what its reads see, until the first change of any of it. Ends when it is
/// destroyed. On the loop only.
class change_watch {
public:
    change_watch() = default;

    /// Sends a read that sets a watch.
    [[nodiscard]] oneshot<reply> send(client_core& core, request r) const {
        oneshot<reply> answer;
        core.submit(std::move(r), watcher_, answer.setter());
        return answer;
    }

    /// Waits until something has changed, or until there is another connection than that of the
    /// reads: then nothing is watched any more.
    [[nodiscard]] auto until_changed(client_core& core) const {
        return until_called_back([s = state_, &core](resumption go_on) {
            if (s->event) {
                go_on();
            } else {
                s->waiting = go_on;
                core.at_next_connection(std::move(go_on));
            }
        });
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
