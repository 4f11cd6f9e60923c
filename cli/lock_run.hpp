#pragma once

#include <latchkey/client.hpp>
#include <latchkey/hold.hpp>

#include "attempt.hpp"
#include "inbox.hpp"
#include "journal.hpp"
#include "lock_options.hpp"
#include "signals.hpp"
#include "supervisor.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

namespace latchkey::cli {

/// One run of `latchkey lock`: waits for the lock, has the command run (or just holds), and reacts
/// to signals, loss and the command's end. Everything happens on the thread that calls execute();
/// waiting for the lock has a thread of its own.
class lock_run {
public:
    /// `command` is null to hold the lock without one. All must outlive this object.
    lock_run(const lock_options& options,
             const client_options& how,
             const signals& arriving,
             supervisor* command,
             const journal& told);
    lock_run(const lock_run&) = delete;
    lock_run& operator=(const lock_run&) = delete;

    /// The exit status. Throws latchkey::error if the servers or options are not usable.
    [[nodiscard]] int execute();

private:
    enum class phase { waiting, running, holding };

    void serve_events();
    void poll_events();
    [[nodiscard]] int poll_limit() const;

    void on_signal(int signal);
    void on_state(connection_state s);
    void on_place(const place& p);
    void on_attempt(attempt_result result);
    void on_loss();
    void on_report(const supervisor_report& report);

    void start_command();
    void show_hold();
    void command_ended(int wait_status);
    void supervisor_died();
    void tell_trouble();
    void lost(const char* consequence);
    void renew_deadline();

    void finish(int status) { status_ = status; }

    const lock_options& options_;
    const signals& signals_;
    supervisor* supervisor_;
    const journal& journal_;

    inbox inbox_;
    client client_;
    std::stop_source cancel_;
    phase phase_ = phase::waiting;
    hold hold_;
    std::optional<std::stop_callback<std::function<void()>>> loss_;
    std::optional<int> status_;
    int cancelled_by_ = 0;
    bool told_trouble_ = false;
    bool told_loss_ = false;
    boottime_clock::time_point deadline_{};
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace latchkey::cli
