#pragma once

#include <latchkey/client.hpp>
#include <latchkey/leader_observer.hpp>

#include "look/connection_report.hpp"
#include "options/elect_options.hpp"
#include "output/main_thread_queue.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// `latchkey elect -l`: prints the leader whenever it changes, until a signal arrives. Everything
/// happens on the thread that calls execute(), except for the check of access.
class leader_monitor {
public:
    /// Both must outlive this object. Throws usage_error and latchkey::error.
    leader_monitor(const elect_options& options, const status_output& output);
    leader_monitor(const leader_monitor&) = delete;
    leader_monitor& operator=(const leader_monitor&) = delete;

    /// Returns the exit status. Throws latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    void check_access(const std::stop_token& stop);
    void poll_events();
    void print(const std::optional<leader_info>& now);

    void finish(int status) { status_ = status_.value_or(status); }

    const elect_options& options_;
    const signals signals_;
    const status_output& output_;

    main_thread_queue queue_;
    client client_;
    connection_report connection_;
    std::optional<int> status_;
};

}  // namespace latchkey::cli
