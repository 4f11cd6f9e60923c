#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// For a task: watches what its reads see, until the first change of any of it. Ends when it and
/// its copies are destroyed. On the loop only.
class change_watch {
public:
    change_watch() = default;

    /// Sends a read that sets a watch.
    [[nodiscard]] oneshot<reply> send(client_core& core, request r) const {
        const std::string& root = core.chroot();
        state_->paths.push_back(r.path == "/" && !root.empty() ? root : root + r.path);
        oneshot<reply> answer;
        core.submit(std::move(r), state_, answer.setter());
        return answer;
    }

    /// `resume` is called with the first change, or at once if there was one. Replaces an earlier
    /// one.
    void at_change(resumption resume) const {
        if (state_->event) {
            resume();
        } else {
            state_->waiting = std::move(resume);
        }
    }

    /// Waits for the first change, or until there is another connection than that of the reads:
    /// then nothing is watched any more.
    [[nodiscard]] auto until_changed(client_core& core) const {
        return first_of(until_called_back([watch = *this](resumption resume) {
                            watch.at_change(std::move(resume));
                        }),
                        core.next_connection());
    }

    /// Waits for the first change of what either of two has watched, or as above.
    [[nodiscard]] auto until_either_changes(client_core& core, const change_watch& other) const {
        return first_of(until_changed(core), other.until_changed(core));
    }

    /// The first change.
    [[nodiscard]] const std::optional<watch_event>& event() const noexcept { return state_->event; }

    [[nodiscard]] bool has_fired() const noexcept { return event().has_value(); }

private:
    struct state final : session::watcher {
        [[nodiscard]] bool is_on(std::string_view path) const noexcept override {
            return std::find(paths.begin(), paths.end(), path) != paths.end();
        }

        void on_event(watch_event e) override {
            if (!event) {
                event = e;
                waiting();
            }
        }

        std::vector<std::string> paths;  ///< the servers', with the chroot of the client
        std::optional<watch_event> event;
        resumption waiting;
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace latchkey::inline v0
