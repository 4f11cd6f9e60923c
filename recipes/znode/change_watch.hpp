#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"

#include <memory>
#include <utility>

namespace latchkey::inline v0 {

/// For a task: watches what its reads see, until the first change of any of it. Ends with the
/// connection, without an event, and when it is destroyed. On the loop only.
class change_watch {
public:
    change_watch() = default;

    /// Sends a read that sets a watch.
    [[nodiscard]] oneshot<reply> send(client_core& core, request r) const {
        oneshot<reply> answer;
        core.submit(std::move(r), watcher_, answer.setter());
        return answer;
    }

    [[nodiscard]] const oneshot<watch_event>& fired() const noexcept { return fired_; }

    [[nodiscard]] bool has_fired() const noexcept { return fired_.await_ready(); }

private:
    oneshot<watch_event> fired_;
    std::shared_ptr<session::watcher> watcher_ = make_watcher(fired_.setter());
};

}  // namespace latchkey::inline v0
