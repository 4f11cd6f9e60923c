#include "supervised_run.hpp"

#include "auth_file.hpp"
#include "process_tree.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>

namespace latchkey::cli {

supervised_run::supervised_run(const run_options& options,
                               const run_kind& kind,
                               const status_output& output)
    : options_(options),
      kind_(kind),
      output_(output),
      outputs_(options, output),
      client_options_(observed_options()),
      supervisor_(fork_supervisor()),
      client_(client::connect(options.servers, client_options_)),
      connection_(client_, queue_, output) {
    ::sigemptyset(&forwarded_);
    outputs_.watch(client_);
}

client_options supervised_run::observed_options() const {
    client_options how = client_options_of(options_, output_);
    how.observer = outputs_.observer();
    return how;
}

std::unique_ptr<supervisor> supervised_run::fork_supervisor() const {
    if (!options_.pass_auth) {
        forget_credentials();
    }
    if (options_.command.empty()) {
        return nullptr;
    }
    if (!sees_descendants()) {
        output_.error(
            "/proc does not show this process's children: processes that leave the command's "
            "process group get no TERM and may be killed late; mount /proc");
    }
    adopt_orphans();  // the supervisor's, should it be killed
    return std::make_unique<supervisor>(options_.command, signals_);
}

int supervised_run::execute() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    try {
        serve_events();
    } catch (...) {
        abandon();
        throw;
    }
    attempt_.reset();
    release();
    client_.close();
    return *status_;
}

/// Before this object releases the lock.
void supervised_run::abandon() noexcept {
    if (phase_ == phase::running) {
        supervisor_->end();
        kill_orphans();
    }
    cancel_.request_stop();
}

void supervised_run::serve_events() {
    while (!status_) {
        const auto now = restart_backoff::clock::now();
        if (phase_ == phase::pausing && pauses_.left(now) == std::chrono::nanoseconds::zero()) {
            begin_attempt();
        }
        poll_events();
        if (phase_ == phase::running) {
            renew_deadline();
        }
    }
}

void supervised_run::poll_events() {
    std::array<pollfd, 3> fds{{{signals_.fd(), POLLIN, 0},
                               {queue_.fd(), POLLIN, 0},
                               {supervisor_ ? supervisor_->fd() : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), poll_limit());
    while (const int signal = signals_.read()) {
        on_signal(signal);
    }
    queue_.run();
    if (phase_ == phase::acquiring && cancelled_by_ == 0) {
        connection_.report_trouble();
    }
    while (supervisor_ && !status_) {
        const auto report = supervisor_->read();
        if (!report) {
            return;
        }
        on_report(*report);
    }
}

int supervised_run::poll_limit() const {
    using std::chrono::milliseconds;
    switch (phase_) {
        case phase::pausing: {
            const auto left = pauses_.left(restart_backoff::clock::now());
            return static_cast<int>(std::chrono::ceil<milliseconds>(left).count());
        }
        case phase::acquiring:
            return connection_.poll_limit();
        case phase::running:
            return static_cast<int>(
                std::max<std::int64_t>(client_.session_timeout().count() / 20, 10));
        default:
            return -1;
    }
}

// ---- acquiring ----

void supervised_run::begin_attempt() {
    phase_ = phase::acquiring;
    cancel_ = std::stop_source();
    attempt_.emplace([this, stop = cancel_.get_token()] {
        const auto listener = [this](const queue_position& p) {
            queue_.post([this, p] { on_place(p); });
        };
        try {
            const auto acquired = std::make_shared<std::optional<held_resource>>(
                kind_.acquire(client_, stop, listener));
            queue_.post([this, acquired] { on_result(std::move(*acquired)); });
        } catch (...) {
            queue_.post([this, failure = std::current_exception()] {
                if (cancelled_by_ == 0) {
                    std::rethrow_exception(failure);
                }
                on_result({});
            });
        }
    });
}

void supervised_run::on_place(const queue_position& p) {
    static_cast<void>(grace_within(options_, client_.session_timeout()));
    if (p.position == 0) {
        return;  // "acquired" says it
    }
    const auto predecessor = escaped(p.predecessor);
    output_.event(
        "waiting",
        fmt::format("waiting behind {}; the predecessor is {}", p.position, predecessor),
        {{"node", escaped(p.path)}, {"position", p.position}, {"predecessor", predecessor}});
}

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
    const auto node = escaped(held_->nodes.front());
    output_.event(kind_.acquired,
                  fmt::format("{} {}, token {}", kind_.acquired, node, held_->token),
                  {{"node", node}, {"token", held_->token}});
    loss_is_reported_ = false;
    if (supervisor_) {
        start_command();
    } else {
        print_held();
    }
    loss_listener_.emplace(held_->lost, [this] { queue_.post([this] { on_loss(); }); });
    hand_over_listener_.emplace(held_->hand_over_requested,
                                [this] { queue_.post([this] { on_hand_over_requested(); }); });
}

void supervised_run::start_command() {
    phase_ = phase::running;
    pauses_.begun(restart_backoff::clock::now());
    ::sigemptyset(&forwarded_);
    handing_over_ = false;
    deadline_ = held_->valid_until();
    // No path has a line break in it.
    const auto lines = [](const auto& all) { return fmt::format("{}", fmt::join(all, "\n")); };
    const bool several = !options_.paths.empty();
    supervisor_->run({{"LATCHKEY_PATH", several ? lines(options_.paths) : options_.path},
                      {"LATCHKEY_NODE", lines(held_->nodes)},
                      {"LATCHKEY_TOKEN", std::to_string(held_->token)}},
                     deadline_,
                     grace_within(options_, client_.session_timeout()));
}

void supervised_run::print_held() {
    phase_ = phase::holding;
    const auto token = held_->token;
    std::string text;
    for (const std::string& node : held_->nodes) {
        const std::string path =
            options_.paths.empty() ? options_.path : node.substr(0, node.rfind('/'));
        const nlohmann::ordered_json object{{"path", path}, {"node", node}, {"token", token}};
        text += options_.json ? object.dump() + '\n'
                              : fmt::format("{} {} {}\n", escaped(path), escaped(node), token);
    }
    if (!write_to_stdout(text)) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

// ---- running and holding ----

void supervised_run::renew_deadline() {
    // The deadline of a lost hold is in the past, so a late loss event costs no time.
    const auto deadline = held_->valid_until();
    if (deadline != deadline_) {
        deadline_ = deadline;
        supervisor_->move_deadline(deadline);
    }
}

void supervised_run::on_signal(int signal) {
    if (phase_ == phase::running) {
        ::sigaddset(&forwarded_, signal);
        supervisor_->forward(signal);
        return;
    }
    if (signal == SIGCONT) {
        return;
    }
    if (phase_ == phase::holding) {
        output_.event("signal", fmt::format("{}: releasing", signal_name(signal)));
        finish(exit_status::success);
        return;
    }
    if (phase_ == phase::pausing) {
        finish(exit_status::of_signal(signal));
        return;
    }
    output_.event("signal", fmt::format("{}: leaving the queue", signal_name(signal)));
    cancelled_by_ = cancelled_by_ == 0 ? signal : cancelled_by_;
    cancel_.request_stop();
    if (kind_.is_try) {
        client_.close();
    }
}

void supervised_run::on_loss() {
    if (phase_ == phase::running) {
        supervisor_->end_now();
    } else if (phase_ == phase::holding) {
        report_loss("");
        end_term(exit_status::lock_lost, false);
    }
}

/// The command gets one TERM, and may take the time that it needs.
void supervised_run::on_hand_over_requested() {
    if (phase_ == phase::running) {
        output_.event("wanted", "asked to hand over: ending the command");
        supervisor_->forward(SIGTERM);
        handing_over_ = true;
    } else if (phase_ == phase::holding) {
        end_term(exit_status::success, false);
    }
}

void supervised_run::on_report(const supervisor_report& report) {
    using kind = supervisor_report::kind;
    switch (report.what) {
        case kind::started:
            return output_.event("started",
                                 fmt::format("command runs as process {}", report.number),
                                 {{"pid", report.number}});
        case kind::not_started:
            output_.error(fmt::format("cannot run '{}': {}",
                                      escaped(options_.command.front()),
                                      std::strerror(report.number)));
            return finish(exit_status::of_failed_start(report.number));
        case kind::not_suspended:
            return output_.error(
                fmt::format("the command cannot be suspended while it has the {}", kind_.name));
        case kind::terminating:
            return report_loss("; ending the command");
        case kind::cannot_kill:
            return report_survivors(report.number);
        case kind::ended:
            return on_command_end(report.number);
        case kind::ended_by_loss:
            report_loss("; the command was ended");
            return end_term(exit_status::lock_lost, false);
        case kind::supervisor_died:
            return on_supervisor_death();
    }
}

void supervised_run::on_command_end(int wait_status) {
    const int status = exit_status::of_command(wait_status);
    output_.event("ended",
                  WIFSIGNALED(wait_status)
                      ? fmt::format("command was ended by {}", signal_name(WTERMSIG(wait_status)))
                      : fmt::format("command exited with status {}", status),
                  {{"status", status}});
    if (!held_->valid()) {
        // The command may have worked without the lock, if only at its very end.
        report_loss(" while the command ran");
        end_term(exit_status::lock_lost, false);
    } else if (was_asked_to_end(wait_status)) {
        finish(status);
    } else {
        end_term(status, !handing_over_);
    }
}

/// Whether a signal that latchkey forwarded was meant to end both the command and latchkey.
bool supervised_run::was_asked_to_end(int wait_status) const {
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
        if (::sigismember(&forwarded_, signal) == 1) {
            return true;
        }
    }
    return WIFSIGNALED(wait_status) && ::sigismember(&forwarded_, WTERMSIG(wait_status)) == 1;
}

void supervised_run::on_supervisor_death() {
    output_.error("the supervising process was killed; ending the command");
    kill_orphans();
    cancel_.request_stop();
    finish(exit_status::system_failed);
}

/// The children of a supervisor that died are now children of latchkey.
void supervised_run::kill_orphans() const {
    kill_descendants([this](int left) { report_survivors(left); });
}

void supervised_run::report_survivors(int processes) const {
    output_.error(fmt::format(
        "{} processes of the command have survived SIGKILL so far; waiting for them", processes));
}

void supervised_run::report_loss(const char* consequence) {
    if (!std::exchange(loss_is_reported_, true)) {
        const auto why = held_->why_lost();
        output_.error(fmt::format("{} {} {}{}",
                                  kind_.name,
                                  escaped(options_.path),
                                  why == loss_reason::none
                                      ? "is about to be lost: no server has answered in time"
                                      : fmt::format("lost: {}", to_string(why)),
                                  consequence));
    }
}

/// Events that were posted before do nothing in the phase that follows.
void supervised_run::release() {
    loss_listener_.reset();
    hand_over_listener_.reset();
    if (held_) {
        held_.reset();
        output_.event(kind_.released, kind_.released);
    }
}

/// Ends the run, or begins again: after a pause, or at once.
void supervised_run::end_term(int status, bool pause) {
    if (!kind_.repeats) {
        finish(status);
        return;
    }
    release();
    phase_ = phase::pausing;
    const auto now = restart_backoff::clock::now();
    if (pause) {
        pauses_.ended(now);
    } else {
        pauses_.skip(now);
    }
}

}  // namespace latchkey::cli
