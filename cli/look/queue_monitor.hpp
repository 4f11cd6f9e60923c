#pragma once

#include <latchkey/client.hpp>
#include <latchkey/inspect.hpp>

#include "inspect/path_watch.hpp"
#include "look/connection_report.hpp"
#include "options/path_options.hpp"
#include "output/main_thread_queue.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

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

    void poll_events();
    [[nodiscard]] int poll_limit() const;
    void work();

    void begin_look();
    void looked(queue_view v);
    void look_failed(const std::exception_ptr& why);

    void show_screen();
    void show_changes(const queue_view& now);
    void write(const std::string& text);

    void finish(int status) { status_ = status_.value_or(status); }

    const path_options& options_;
    const signals signals_;
    const status_output& output_;
    const bool on_terminal_;

    const std::shared_ptr<main_thread_queue> queue_;  ///< shared with what the watch calls
    client client_;
    connection_report connection_;
    std::shared_ptr<path_watch> watch_;
    std::jthread looking_;

    std::optional<queue_view> shown_;
    clock::time_point drawn_{};
    bool wanted_ = true;              ///< the path is to be looked at
    bool under_way_ = false;          ///< from setting the watches to the view
    clock::time_point not_before_{};  ///< the next look
    std::optional<int> status_;
};

}  // namespace latchkey::cli
