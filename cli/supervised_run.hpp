#pragma once

#include <latchkey/client.hpp>

#include "connection_report.hpp"
#include "main_thread_queue.hpp"
#include "restart_backoff.hpp"
#include "run_kind.hpp"
#include "run_options.hpp"
#include "signals.hpp"
#include "status_output.hpp"
#include "supervisor.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace latchkey::cli {

/// One run of `latchkey lock` or `latchkey elect`: waits for what the command is to run under, has
/// it run (or just holds), and reacts to signals, loss and the command's end; begins again if that
/// is what it is to do. Everything happens on the thread that calls execute(); each attempt has a
/// thread of its own.
class supervised_run {
public:
    /// `command` is null to hold without one. All must outlive this object.
    supervised_run(const run_options& options,
                   const client_options& how,
                   const run_kind& what,
                   const signals& arriving,
                   supervisor* command,
                   const status_output& told);
    supervised_run(const supervised_run&) = delete;
    supervised_run& operator=(const supervised_run&) = delete;

    /// The exit status. Throws latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    enum class phase { pausing, waiting, running, holding };

    void serve_events();
    void poll_events();
    [[nodiscard]] int poll_limit() const;

    void begin_attempt();
    void on_signal(int signal);
    void on_place(const place& p);
    void on_attempt(attempt_result result);
    void on_loss();
    void on_wanted();
    void on_report(const supervisor_report& report);

    void start_command();
    void show_tenure();
    void command_ended(int wait_status);
    [[nodiscard]] bool asked_to_end(int wait_status) const;
    void supervisor_died();
    void abandon() noexcept;
    void kill_orphans() const;
    void cannot_kill(int processes) const;
    void lost(const char* consequence);
    void renew_deadline();
    void give_up_tenure();
    void end_tenure(int status, bool pause);

    void finish(int status) { status_ = status; }

    const run_options& options_;
    const run_kind& undertaking_;
    const signals& signals_;
    supervisor* supervisor_;
    const status_output& journal_;

    main_thread_queue inbox_;
    client client_;
    std::optional<connection_report> connection_;
    std::stop_source cancel_;
    std::optional<std::jthread> waiting_;
    phase phase_ = phase::pausing;
    std::unique_ptr<held_resource> tenure_;
    std::optional<std::stop_callback<std::function<void()>>> loss_;
    std::optional<std::stop_callback<std::function<void()>>> wanted_;
    std::optional<int> status_;
    int cancelled_by_ = 0;
    sigset_t forwarded_{};    ///< to the present command
    bool given_way_ = false;  ///< the command was told to end because somebody else is to have it
    bool told_loss_ = false;
    boottime_clock::time_point deadline_{};
    restart_backoff pauses_;
};

}  // namespace latchkey::cli
