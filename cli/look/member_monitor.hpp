#pragma once

#include <latchkey/client.hpp>
#include <latchkey/group.hpp>

#include "look/connection_report.hpp"
#include "options/members_options.hpp"
#include "output/main_thread_queue.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"

#include <optional>
#include <stop_token>
#include <vector>

namespace latchkey::cli {

/// `latchkey members --follow`: prints the members, then each change, until a signal arrives.
/// Everything happens on the thread that calls execute(), except for the check of access.
class member_monitor {
public:
    /// Both must outlive this object. Throws usage_error and latchkey::error.
    member_monitor(const members_options& options, const status_output& output);
    member_monitor(const member_monitor&) = delete;
    member_monitor& operator=(const member_monitor&) = delete;

    /// Returns the exit status. Throws latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    void check_access(const std::stop_token& stop);
    void poll_events();
    void on_change(const std::vector<group_member>& now);

    const members_options& options_;
    const signals signals_;
    const status_output& output_;

    main_thread_queue queue_;
    client client_;
    connection_report connection_;
    group group_;
    std::vector<group_member> known_;
    std::optional<int> status_;
};

}  // namespace latchkey::cli
