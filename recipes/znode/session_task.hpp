#pragma once

#include "client/client_core.hpp"
#include "client/session_listener.hpp"
#include "loop/task.hpp"

#include <memory>
#include <utility>

namespace latchkey::inline v0 {

/// Runs a task that nothing waits for, until it ends or the session does. The core keeps it alive.
/// On the loop only, unless noted.
class session_task : public session_listener, public std::enable_shared_from_this<session_task> {
public:
    explicit session_task(std::shared_ptr<client_core> core) : core_(std::move(core)) {}

    /// Any thread.
    [[nodiscard]] const std::shared_ptr<client_core>& core() const noexcept { return core_; }

    void run(task<bool> t) {
        if (!core_->closed_why()) {
            core_->attach(shared_from_this());
            begin_anew(std::move(t));
        }
    }

protected:
    /// For what goes on in the next session.
    void begin_anew(task<bool> t) {
        running_.start(std::move(t), [this](bool) { stop(); });
    }

    /// Not from inside of the task. May end what keeps this alive.
    void stop() {
        const auto self = shared_from_this();
        running_.drop();
        core_->detach(this);
    }

    /// Any thread.
    void stop_soon() {
        core_->post([this, self = shared_from_this()] { stop(); });
    }

    void session_ended(loss_reason) override { stop(); }

    void client_closed(const failure&) override { stop(); }

    const std::shared_ptr<client_core> core_;
    running_task running_;
};

}  // namespace latchkey::inline v0
