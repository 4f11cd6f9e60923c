#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/client.hpp>

#include "options/run_options.hpp"
#include "output/main_loop.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"
#include "run/acquisition.hpp"
#include "run/event_outputs.hpp"
#include "run/held_resource.hpp"
#include "run/hold_limits.hpp"
#include "run/loss_reaction.hpp"
#include "run/restart_backoff.hpp"
#include "run/run_guardian.hpp"
#include "run/run_kind.hpp"
#include "run/run_report.hpp"
#include "supervisor/forwarded_signals.hpp"
#include "supervisor/supervisor.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// One run of `latchkey lock`, `elect` or `join`: acquires, runs the command, and reacts to
/// signals, loss and the command's end. Without a command it prints what it acquired, and holds it.
/// Begins again if the kind of run repeats. Everything happens on the thread that calls execute();
/// each attempt to acquire has a thread of its own, and so has the record of a success.
class supervised_run {
public:
    /// All must outlive this object. To be made before the process has any thread: it forks the
    /// supervisor, if there is a command to run. Throws usage_error and latchkey::error.
    supervised_run(const run_options& options, const run_kind& kind, const status_output& output);
    supervised_run(const supervised_run&) = delete;
    supervised_run& operator=(const supervised_run&) = delete;

    /// Returns the exit status. Throws what the attempt to acquire throws, for example
    /// latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    enum class phase {
        pausing,
        acquiring,
        running,    ///< the command
        recording,  ///< that it has succeeded
        keeping,    ///< the command has ended; it is held until --min-hold is over
        holding,    ///< without a command
    };
    using stop_listener = std::stop_callback<std::function<void()>>;

    void enter(phase p);
    void on_time();
    void look_again(std::chrono::nanoseconds after);

    void on_result(std::optional<held_resource> acquired);
    void on_acquired();
    void on_signal(int signal);
    void on_loss();
    void on_hand_over_requested();
    void on_reports();
    void on_report(const supervisor_report& report);
    void on_command_end(int wait_status);
    void on_killed_in_time(int wait_status);
    void on_supervisor_death();

    void start_command();
    void print_held();
    void record_success();
    void keep_or_end();
    [[nodiscard]] bool is_over_by_limit() const;
    void abandon() noexcept;
    void kill_orphans() const;
    void report_end_ahead();
    void renew_deadline();
    void release();
    void end_term(int status, bool pause);
    void end_lost_term(int status, int wait_status);

    void finish(int status) { loop_.finish(status); }

    const run_options& options_;
    const run_kind& kind_;
    const status_output& output_;
    const run_report report_;

    const event_outputs outputs_;
    const signals signals_;
    const run_guardian guardian_;
    const std::unique_ptr<supervisor> supervisor_;  ///< null: it only holds
    main_loop loop_;
    client client_;
    acquisition acquisition_;
    background_call recording_;
    loop_timer due_;
    phase phase_ = phase::pausing;
    std::optional<held_resource> held_;
    hold_limits limits_;
    std::optional<stop_listener> loss_listener_;
    std::optional<stop_listener> hand_over_listener_;
    loss_reaction loss_;
    int cancelled_by_ = 0;
    forwarded_signals forwarded_;
    bool handing_over_ = false;  ///< another client is to have it; the command got TERM
    bool asked_to_end_ = false;  ///< a signal that latchkey forwarded has ended the command
    int command_status_ = 0;     ///< of a command that has ended
    boottime_clock::time_point deadline_{};
    restart_backoff pauses_;
};

}  // namespace latchkey::cli
