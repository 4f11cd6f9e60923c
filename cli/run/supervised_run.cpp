#include "run/supervised_run.hpp"

#include "guardian/guardian_process.hpp"
#include "options/connecting.hpp"
#include "output/service_manager.hpp"
#include "run/forked_supervisor.hpp"
#include "supervisor/process_tree.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace latchkey::cli {

namespace {

/// The clock of a hold goes on while the machine sleeps, and that of the timers does not.
constexpr std::chrono::seconds longest_wait{1};

}  // namespace

supervised_run::supervised_run(const run_options& options,
                               const run_kind& kind,
                               const status_output& output)
    : options_(options),
      kind_(kind),
      output_(output),
      report_(output, options, kind),
      outputs_(options, output),
      guardian_(options, output),
      supervisor_(forked_supervisor(options, signals_, output)),
      loop_(signals_),
      // With credentials, which are not for the supervisor.
      client_(client::connect(
          options.servers,
          outputs_.observing(guardian_.guarded(client_options_for_run(options, output))))),
      acquisition_(client_,
                   loop_,
                   output,
                   options,
                   kind,
                   [this](std::optional<held_resource> h) { on_result(std::move(h)); }),
      recording_(loop_),
      due_(loop_),
      loss_(options, report_, signals_) {
    outputs_.watch(client_);
}

int supervised_run::execute() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    loop_.on_signal([this](int signal) { on_signal(signal); });
    if (supervisor_) {
        loop_.on_readable(supervisor_->fd(), [this] { on_reports(); });
    }
    int status = 0;
    try {
        on_time();
        status = loop_.run();
    } catch (...) {
        abandon();
        throw;
    }
    acquisition_.join();
    recording_.stop_and_join();
    release();
    client_.close();
    loss_.join();
    return status;
}

/// Before this object releases the lock.
void supervised_run::abandon() noexcept {
    if (phase_ == phase::running) {
        supervisor_->end();
        kill_orphans();
    }
    acquisition_.cancel();
}

void supervised_run::enter(phase p) {
    phase_ = p;
    set_command_runs(p == phase::running);
    look_again({});
}

void supervised_run::look_again(std::chrono::nanoseconds after) {
    due_.start(std::min<std::chrono::nanoseconds>(after, longest_wait), [this] { on_time(); });
}

/// What is due without an event: a pause, --min-hold or --max-hold is over, or the hold was
/// renewed.
void supervised_run::on_time() {
    constexpr auto zero = std::chrono::nanoseconds::zero();
    const auto now = boottime_clock::now();
    if (phase_ == phase::pausing) {
        const auto left = pauses_.left(restart_backoff::clock::now());
        if (left > zero) {
            return look_again(left);
        }
        phase_ = phase::acquiring;
        acquisition_.begin();
    } else if (phase_ == phase::running) {
        renew_deadline();
        look_again(std::max<std::chrono::milliseconds>(client_.session_timeout() / 20,
                                                       std::chrono::milliseconds(10)));
    } else if (phase_ == phase::keeping) {
        const auto owed = limits_.owed(now);
        owed > zero ? look_again(owed) : end_term(command_status_, true);
    } else if (phase_ == phase::holding && options_.max_hold) {
        if (const auto left = limits_.left(now); left > zero) {
            return look_again(left);
        }
        report_.held_too_long("releasing it");
        end_term(exit_status::held_too_long, false);
    }
}

// ---- acquiring ----

void supervised_run::on_result(std::optional<held_resource> acquired) {
    held_ = std::move(acquired);
    if (cancelled_by_ != 0) {
        finish(exit_status::of_signal(cancelled_by_));
    } else if (held_) {
        on_acquired();
    } else {
        output_.event("not_acquired", "not acquired");
        finish(kind_.not_acquired_status);
    }
}

void supervised_run::on_acquired() {
    report_.acquired(*held_);
    loss_.begin();
    limits_ = hold_limits(held_->granted, options_.min_hold, options_.max_hold);
    if (held_->ran_recently) {
        report_.skipped();
        finish(kind_.skipped_status);
        return;
    }
    if (supervisor_) {
        start_command();
    } else {
        print_held();
    }
    loss_listener_.emplace(held_->lost, [this] { loop_.post([this] { on_loss(); }); });
    hand_over_listener_.emplace(held_->hand_over_requested,
                                [this] { loop_.post([this] { on_hand_over_requested(); }); });
}

void supervised_run::start_command() {
    if (guardian_.is_there()) {
        forbid_end_of_sessions({});  // while what it starts may live
    }
    enter(phase::running);
    pauses_.begun(restart_backoff::clock::now());
    forwarded_.clear();
    handing_over_ = false;
    deadline_ = limits_.deadline(held_->valid_until());
    supervisor_->run(settings_of(*held_, options_),
                     deadline_,
                     grace_within(options_, client_.session_timeout()));
}

void supervised_run::print_held() {
    enter(phase::holding);
    const auto waits = [this] {
        const bool wanted = held_->hand_over_requested.stop_requested();
        const auto left = limits_.left(boottime_clock::now());
        return loop_.take_signals() && held_->valid() && !wanted && left.count() > 0;
    };
    if (!write_to_stdout(lines_of(*held_, options_), waits) && errno != ETIMEDOUT) {
        report_.not_written();
        finish(exit_status::output_failed);
    }
}

// ---- running and holding ----

void supervised_run::renew_deadline() {
    // The deadline of a lost hold is in the past, so a late loss event costs no time.
    const auto deadline = limits_.deadline(held_->valid_until());
    if (deadline != deadline_) {
        deadline_ = deadline;
        supervisor_->move_deadline(deadline);
    }
}

void supervised_run::on_signal(int signal) {
    if (phase_ == phase::running) {
        forwarded_.add(signal);
        supervisor_->forward(signal);
        return;
    }
    if (signal == SIGCONT) {
        return;
    }
    if (phase_ == phase::recording) {
        asked_to_end_ = true;
        return;
    }
    if (phase_ == phase::keeping) {
        return finish(command_status_);
    }
    if (phase_ == phase::holding) {
        output_.event("signal", fmt::format("{}: releasing", signal_name(signal)));
        finish(exit_status::success);
        return;
    }
    if (phase_ == phase::pausing) {
        return finish(exit_status::of_signal(signal));
    }
    output_.event("signal", fmt::format("{}: leaving the queue", signal_name(signal)));
    cancelled_by_ = cancelled_by_ == 0 ? signal : cancelled_by_;
    acquisition_.cancel();
    if (kind_.is_try) {
        client_.close();
    }
}

void supervised_run::on_loss() {
    if (phase_ == phase::running) {
        supervisor_->end_now();
    } else if (phase_ == phase::holding || phase_ == phase::keeping) {
        loss_.on_loss(*held_, "");
        end_term(exit_status::lock_lost, false);
    }
}

/// The command gets one TERM, and may take the time that it needs.
void supervised_run::on_hand_over_requested() {
    if (phase_ == phase::running) {
        report_.hand_over_requested();
        supervisor_->forward(SIGTERM);
        handing_over_ = true;
    } else if (phase_ == phase::recording) {
        handing_over_ = true;
    } else if (phase_ == phase::holding) {
        end_term(exit_status::success, false);
    } else if (phase_ == phase::keeping) {
        end_term(command_status_, false);
    }
}

void supervised_run::on_reports() {
    for (auto r = supervisor_->read(); r && !loop_.finished(); r = supervisor_->read()) {
        on_report(*r);
    }
}

void supervised_run::on_report(const supervisor_report& report) {
    using kind = supervisor_report::kind;
    switch (report.what) {
        case kind::started:
            return report_.started(report.number);
        case kind::not_started:
            report_.not_started(report.number);
            return finish(exit_status::of_failed_start(report.number));
        case kind::not_suspended:
            return report_.not_suspended();
        case kind::terminating:
            return report_end_ahead();
        case kind::cannot_kill:
            return report_.survivors(report.number);
        case kind::ended:
            return on_command_end(report.number);
        case kind::ended_by_loss:
            return on_killed_in_time(report.number);
        case kind::supervisor_died:
            return on_supervisor_death();
    }
}

void supervised_run::on_command_end(int wait_status) {
    allow_end_of_sessions();
    command_status_ = exit_status::of_command(wait_status);
    report_.ended(wait_status);
    if (!held_->valid()) {
        // The command may have worked without the lock, if only at its very end.
        loss_.on_loss(*held_, " while the command ran");
        return end_lost_term(exit_status::lock_lost, wait_status);
    }
    asked_to_end_ = forwarded_.end_latchkey(wait_status);
    const bool succeeded = command_status_ == exit_status::success;
    if (options_.once_per && succeeded && !asked_to_end_ && !handing_over_) {
        record_success();
    } else {
        keep_or_end();
    }
}

void supervised_run::record_success() {
    enter(phase::recording);
    recording_.start([this, record = once_record(client_, options_.path, held_->transact)](
                         const std::stop_token&) mutable -> main_loop::task {
        std::string trouble = record.try_succeeded();
        return [this, trouble = std::move(trouble)] {
            if (!trouble.empty()) {
                output_.error(trouble);
            }
            keep_or_end();
        };
    });
}

/// The command has ended, by itself or because it was asked to.
void supervised_run::keep_or_end() {
    const auto owed = limits_.owed(boottime_clock::now());
    if (asked_to_end_) {
        finish(command_status_);
    } else if (handing_over_ || owed == std::chrono::nanoseconds::zero()) {
        end_term(command_status_, !handing_over_);
    } else {
        enter(phase::keeping);
        report_.kept(owed);
        if (!held_->valid()) {
            on_loss();
        }
    }
}

/// Before the deadline, the command and all that it started are dead.
void supervised_run::on_killed_in_time(int wait_status) {
    allow_end_of_sessions();
    const bool by_limit = is_over_by_limit();
    if (!by_limit) {
        loss_.on_loss(*held_, "; the command was ended");
    }
    end_lost_term(by_limit ? exit_status::held_too_long : exit_status::lock_lost, wait_status);
}

/// A signal that was meant to end latchkey ends it also then.
void supervised_run::end_lost_term(int status, int wait_status) {
    forwarded_.end_latchkey(wait_status) ? finish(status) : end_term(status, false);
}

bool supervised_run::is_over_by_limit() const {
    return held_->valid() && limits_.is_limit(deadline_);
}

void supervised_run::on_supervisor_death() {
    output_.error("the supervising process was killed; ending the command");
    kill_orphans();
    allow_end_of_sessions();
    finish(exit_status::system_failed);
}

/// The children of a supervisor that died are now children of latchkey.
void supervised_run::kill_orphans() const {
    kill_descendants([this](int left) { report_.survivors(left); });
}

void supervised_run::report_end_ahead() {
    if (is_over_by_limit()) {
        report_.held_too_long("ending the command");
    } else {
        loss_.on_loss(*held_, "; ending the command");
    }
}

/// Events that were posted before do nothing in the phase that follows.
void supervised_run::release() {
    loss_listener_.reset();
    hand_over_listener_.reset();
    if (held_) {
        held_.reset();
        report_.released();
    }
}

/// Ends the run, or begins again: after a pause, or at once.
void supervised_run::end_term(int status, bool pause) {
    if (!kind_.repeats) {
        finish(status);
        return;
    }
    release();
    enter(phase::pausing);
    const auto now = restart_backoff::clock::now();
    pause ? pauses_.ended(now) : pauses_.skip(now);
    on_time();
}

}  // namespace latchkey::cli
