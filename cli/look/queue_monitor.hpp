#pragma once

#include <latchkey/inspect.hpp>

#include "inspect/path_watch.hpp"
#include "look/monitor.hpp"
#include "options/path_options.hpp"
#include "output/main_loop.hpp"
#include "output/status_output.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

namespace latchkey::cli {

/// `latchkey watch`: shows a queue whenever it changes, until a signal arrives. Sets watches, looks
/// at the path, shows it, and waits for a watch. One look is under way at a time, and at most five
/// begin in a second. Everything happens on the thread that calls execute(), but for the looks.
class queue_monitor {
public:
    /// Both must outlive this object. Throws usage_error and latchkey::error.
    queue_monitor(const path_options& options, const status_output& output);
    queue_monitor(const queue_monitor&) = delete;
    queue_monitor& operator=(const queue_monitor&) = delete;

    /// Ends the looks before what they use is destroyed.
    ~queue_monitor();

    /// Returns the exit status. Throws latchkey::error if the path cannot be read.
    [[nodiscard]] int execute();

private:
    using clock = std::chrono::steady_clock;

    void want_look();
    void look_when_due();
    void begin_look();
    void looked(queue_view v);
    void look_failed(const std::exception_ptr& why);

    void show_screen();
    void show_changes(const queue_view& now);

    const path_options& options_;
    const status_output& output_;
    const bool on_terminal_;

    monitor all_;
    std::shared_ptr<path_watch> watch_;
    background_call looking_;
    loop_timer due_;
    loop_timer redraw_;

    std::optional<queue_view> shown_;
    bool wanted_ = true;              ///< the path is to be looked at
    bool under_way_ = false;          ///< from setting the watches to the view
    clock::time_point not_before_{};  ///< the next look
};

}  // namespace latchkey::cli
