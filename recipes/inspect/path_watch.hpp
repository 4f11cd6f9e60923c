#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "znode/change_watch.hpp"

#include <functional>
#include <memory>
#include <string>

namespace latchkey::inline v0 {

/// Notices that what inspect() shows of a path may have changed: the children, the data of the
/// path, the lists of a semaphore, or whether the path exists. Changes of the data of a participant
/// alone are not noticed. Used on the loop only, unless noted. The core keeps it alive until it
/// ends.
class path_watch final : public session_listener, public std::enable_shared_from_this<path_watch> {
public:
    /// Both functions are called on the loop, once after each arm(). `armed`: the watches are set.
    /// What is read from now on is at least as new as what they watch. `changed`: something has
    /// changed since, or may have changed, because the connection was lost.
    path_watch(std::shared_ptr<client_core> core,
               std::string path,
               std::function<void()> armed,
               std::function<void()> changed);

    /// Any thread. Sets the watches. Not again before `changed` was called.
    void arm();

    /// Any thread. Functions may still be called until the loop has seen this.
    void end() noexcept;

private:
    void client_closed(const failure&) override;

    [[nodiscard]] task<bool> watch();
    [[nodiscard]] task<bool> set(change_watch changes) const;

    const std::shared_ptr<client_core> core_;
    const std::string path_;
    const std::function<void()> armed_;
    const std::function<void()> changed_;
    running_task watching_;
    bool attached_ = false;
};

}  // namespace latchkey::inline v0
