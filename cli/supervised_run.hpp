#pragma once

#include <latchkey/boottime_clock.hpp>
#include <latchkey/client.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/participant.hpp>

#include "connection_report.hpp"
#include "event_outputs.hpp"
#include "exit_status.hpp"
#include "main_thread_queue.hpp"
#include "restart_backoff.hpp"
#include "run_options.hpp"
#include "signals.hpp"
#include "status_output.hpp"
#include "supervisor.hpp"

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace latchkey::cli {

/// What a command runs under: a lock that is held, or a term of leadership. The functions are those
/// of hold, and own it: it is released with the last of them.
struct held_resource {
    std::function<bool()> valid;
    std::function<boottime_clock::time_point()> valid_until;
    std::function<loss_reason()> why_lost;
    std::stop_token lost = {};
    std::int64_t token = 0;
    std::vector<std::string> nodes = {};

    /// Requested when another client is to have it, as soon as the command has ended.
    std::stop_token hand_over_requested = {};
};

/// `Hold` is hold or leadership.
template <class Hold>
[[nodiscard]] held_resource held_by(const std::shared_ptr<Hold>& h,
                                    std::vector<std::string> nodes) {
    return {.valid = [h] { return h->valid(); },
            .valid_until = [h] { return h->valid_until(); },
            .why_lost = [h] { return h->why_lost(); },
            .lost = h->lost(),
            .token = h->token().value(),
            .nodes = std::move(nodes)};
}

/// Called on the client's callback thread.
using place_listener = std::function<void(const queue_position&)>;

/// How the commands differ that run a command while they hold something.
struct run_kind {
    /// Connects and acquires; blocks. Returns nothing if it was not acquired, or when `stop` is
    /// requested. What it throws ends the run.
    std::function<std::optional<held_resource>(
        client& c, const std::stop_token& stop, place_listener on_place)>
        acquire;

    const char* name = "lock";          ///< "lock PATH lost"
    const char* acquired = "acquired";  ///< "acquired NODE"
    const char* released = "released";
    int not_acquired_status = exit_status::not_acquired;

    /// It waits only for the servers' answer. Only closing the client can stop that.
    bool is_try = false;

    /// Begins again when the command has ended by itself, or the resource was lost.
    bool repeats = false;
};

/// One run of `latchkey lock` or `latchkey elect`: acquires, runs the command, and reacts to
/// signals, loss and the command's end. Without a command it prints what it acquired, and holds it.
/// Begins again if the kind of run repeats. Everything happens on the thread that calls execute();
/// each attempt to acquire has a thread of its own.
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
    enum class phase { pausing, acquiring, running, holding };
    using stop_listener = std::stop_callback<std::function<void()>>;

    void serve_events();
    void poll_events();
    [[nodiscard]] int poll_limit() const;

    void begin_attempt();
    void on_place(const queue_position& p);
    void on_result(std::optional<held_resource> acquired);
    void on_acquired();
    void on_signal(int signal);
    void on_loss();
    void on_hand_over_requested();
    void on_report(const supervisor_report& report);
    void on_command_end(int wait_status);
    void on_supervisor_death();

    [[nodiscard]] client_options observed_options() const;
    [[nodiscard]] std::unique_ptr<supervisor> fork_supervisor() const;
    void start_command();
    void print_held();
    [[nodiscard]] bool was_asked_to_end(int wait_status) const;
    void abandon() noexcept;
    void kill_orphans() const;
    void report_loss(const char* consequence);
    void report_survivors(int processes) const;
    void renew_deadline();
    void release();
    void end_term(int status, bool pause);

    void finish(int status) { status_ = status; }

    const run_options& options_;
    const run_kind& kind_;
    const status_output& output_;

    const event_outputs outputs_;
    const client_options client_options_;
    const signals signals_;
    const std::unique_ptr<supervisor> supervisor_;  ///< null: it only holds
    main_thread_queue queue_;
    client client_;
    connection_report connection_;
    std::stop_source cancel_;
    std::optional<std::jthread> attempt_;
    phase phase_ = phase::pausing;
    std::optional<held_resource> held_;
    std::optional<stop_listener> loss_listener_;
    std::optional<stop_listener> hand_over_listener_;
    std::optional<int> status_;
    int cancelled_by_ = 0;
    sigset_t forwarded_{};       ///< to the present command
    bool handing_over_ = false;  ///< the command got TERM because another client is to have it
    bool loss_is_reported_ = false;
    boottime_clock::time_point deadline_{};
    restart_backoff pauses_;
};

}  // namespace latchkey::cli
