#pragma once

#include <latchkey/client.hpp>

#include "look/connection_report.hpp"
#include "options/run_options.hpp"
#include "output/main_thread_queue.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

namespace latchkey::cli {

/// What the commands that print changes until a signal arrives have in common. Everything happens
/// on the thread that calls run(), except for the check of access.
class monitor {
public:
    /// Both must outlive this object. Throws usage_error and latchkey::error.
    monitor(const program_options& options, const status_output& output);
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;

    [[nodiscard]] const client& zk() const noexcept { return client_; }

    /// Where changes are posted to; run() runs it.
    [[nodiscard]] main_thread_queue& queue() noexcept { return queue_; }

    /// Prints until the end; returns the exit status. `read` reads once what is watched, on another
    /// thread: observers keep trying where they may not read, and here that ends the command.
    /// Throws what `read` throws.
    [[nodiscard]] int run(const std::function<void()>& read);

    /// Writes to stdout, and ends the command if that fails. Nothing after the end.
    void print(std::string_view text);

private:
    void check_access(const std::function<void()>& read, const std::stop_token& stop);
    void poll_events();

    void finish(int status) { status_ = status_.value_or(status); }

    const program_options& options_;
    const signals signals_;
    const status_output& output_;

    main_thread_queue queue_;
    client client_;
    connection_report connection_;
    std::optional<int> status_;
};

}  // namespace latchkey::cli
