#include "supervised_run.hpp"

#include "duration_text.hpp"
#include "exit_status.hpp"
#include "output.hpp"
#include "process_tree.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/wait.h>

namespace latchkey::cli {

namespace {

/// No path has a line break in it.
std::string lines_of(const std::vector<std::string>& paths) {
    std::string lines;
    for (const std::string& path : paths) {
        lines += (lines.empty() ? "" : "\n") + path;
    }
    return lines;
}

}  // namespace

supervised_run::supervised_run(const run_options& options,
                               const client_options& how,
                               const run_kind& what,
                               const signals& arriving,
                               supervisor* command,
                               const status_output& told)
    : options_(options),
      undertaking_(what),
      signals_(arriving),
      supervisor_(command),
      journal_(told),
      client_(client::connect(options.servers, how)) {
    ::sigemptyset(&forwarded_);
}

int supervised_run::execute() {
    journal_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    connection_.emplace(client_, inbox_, journal_);
    try {
        serve_events();
    } catch (...) {
        abandon();
        throw;
    }
    // In this order they end: the waiting thread, the listeners; then nobody posts to the inbox.
    waiting_.reset();
    connection_.reset();
    give_up_tenure();
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

void supervised_run::begin_attempt() {
    phase_ = phase::waiting;
    cancel_ = std::stop_source();
    waiting_.emplace([this, stop = cancel_.get_token()] {
        const auto result = std::make_shared<attempt_result>(undertaking_.attempt(
            client_, stop, [this](const place& p) { inbox_.post([this, p] { on_place(p); }); }));
        inbox_.post([this, result] { on_attempt(std::move(*result)); });
    });
}

void supervised_run::poll_events() {
    std::array<pollfd, 3> fds{{{signals_.fd(), POLLIN, 0},
                               {inbox_.fd(), POLLIN, 0},
                               {supervisor_ != nullptr ? supervisor_->fd() : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), poll_limit());
    while (const int signal = signals_.read()) {
        on_signal(signal);
    }
    inbox_.run();
    if (phase_ == phase::waiting && cancelled_by_ == 0) {
        connection_->tell_trouble();
    }
    while (supervisor_ != nullptr && !status_) {
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
        case phase::waiting:
            return connection_->poll_limit();
        case phase::running:
            return static_cast<int>(
                std::max<std::int64_t>(client_.session_timeout().count() / 20, 10));
        default:
            return -1;
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
        journal_.event("signal", fmt::format("{}: releasing", signal_name(signal)));
        finish(exit_status::success);
        return;
    }
    if (phase_ == phase::pausing) {
        finish(exit_status::of_signal(signal));
        return;
    }
    journal_.event("signal", fmt::format("{}: leaving the queue", signal_name(signal)));
    cancelled_by_ = cancelled_by_ == 0 ? signal : cancelled_by_;
    cancel_.request_stop();
    if (undertaking_.is_try) {
        client_.close();
    }
}

void supervised_run::on_place(const place& p) {
    if (p.position == 0) {
        return;  // "acquired" says it
    }
    const auto predecessor = escaped(p.predecessor);
    journal_.event(
        "waiting",
        fmt::format("waiting behind {}, next before us is {}", p.position, predecessor),
        {{"node", escaped(p.path)}, {"position", p.position}, {"predecessor", predecessor}});
}

void supervised_run::on_attempt(attempt_result result) {
    tenure_ = std::move(result.granted);
    if (cancelled_by_ != 0) {
        finish(exit_status::of_signal(cancelled_by_));
        return;
    }
    if (!tenure_) {
        if (!result.message.empty()) {
            journal_.error(result.message);
        } else {
            journal_.event("not_acquired", "not acquired");
        }
        finish(result.status);
        return;
    }
    const auto node = tenure_->nodes().front();
    journal_.event(
        undertaking_.gained,
        fmt::format("{} {}, token {}", undertaking_.gained, escaped(node), tenure_->token()),
        {{"node", escaped(node)}, {"token", tenure_->token()}});
    told_loss_ = false;
    if (supervisor_ != nullptr) {
        start_command();
    } else {
        show_tenure();
    }
    loss_.emplace(tenure_->lost(), [this] { inbox_.post([this] { on_loss(); }); });
    wanted_.emplace(tenure_->wanted(), [this] { inbox_.post([this] { on_wanted(); }); });
}

void supervised_run::start_command() {
    phase_ = phase::running;
    pauses_.begun(restart_backoff::clock::now());
    ::sigemptyset(&forwarded_);
    given_way_ = false;
    deadline_ = tenure_->valid_until();
    const bool several = !options_.paths.empty();
    supervisor_->run({{"LATCHKEY_PATH", several ? lines_of(options_.paths) : options_.path},
                      {"LATCHKEY_NODE", lines_of(tenure_->nodes())},
                      {"LATCHKEY_TOKEN", std::to_string(tenure_->token())}},
                     deadline_,
                     grace_within(options_, client_.session_timeout()));
}

void supervised_run::show_tenure() {
    phase_ = phase::holding;
    const auto token = tenure_->token();
    std::string text;
    for (const std::string& node : tenure_->nodes()) {
        const std::string path =
            options_.paths.empty() ? options_.path : node.substr(0, node.rfind('/'));
        const nlohmann::ordered_json object{{"path", path}, {"node", node}, {"token", token}};
        text += options_.json ? object.dump() + '\n'
                              : fmt::format("{} {} {}\n", escaped(path), escaped(node), token);
    }
    if (!write_to_stdout(text)) {
        journal_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

// ---- the end of a tenure ----

/// Releases. What was posted about it before finds that there is none.
void supervised_run::give_up_tenure() {
    loss_.reset();
    wanted_.reset();
    if (tenure_) {
        tenure_.reset();
        journal_.event(undertaking_.given_up, undertaking_.given_up);
    }
}

/// With `pause` what has ended is not begun again at once.
void supervised_run::end_tenure(int status, bool pause) {
    if (!undertaking_.repeats) {
        finish(status);
        return;
    }
    give_up_tenure();
    phase_ = phase::pausing;
    const auto now = restart_backoff::clock::now();
    if (pause) {
        pauses_.ended(now);
    } else {
        pauses_.skip(now);
    }
}

void supervised_run::renew_deadline() {
    // A lost hold answers with the past, so a late event costs nothing.
    const auto deadline = tenure_->valid_until();
    if (deadline != deadline_) {
        deadline_ = deadline;
        supervisor_->move_deadline(deadline);
    }
}

void supervised_run::on_loss() {
    if (phase_ == phase::running) {
        supervisor_->end_now();
    } else if (phase_ == phase::holding) {
        lost("");
        end_tenure(exit_status::lock_lost, false);
    }
}

/// The command is told once, and takes the time that it needs.
void supervised_run::on_wanted() {
    if (phase_ == phase::running) {
        journal_.event("wanted", "somebody else is to have it: ending the command");
        supervisor_->forward(SIGTERM);
        given_way_ = true;
    } else if (phase_ == phase::holding) {
        end_tenure(exit_status::success, false);
    }
}

void supervised_run::lost(const char* consequence) {
    if (!std::exchange(told_loss_, true)) {
        const auto why = tenure_->why_lost();
        journal_.error(fmt::format("{} {} {}{}",
                                   undertaking_.name,
                                   escaped(options_.path),
                                   why == loss::none
                                       ? "is about to be lost: no server has answered for long"
                                       : fmt::format("lost: {}", to_string(why)),
                                   consequence));
    }
}

void supervised_run::on_report(const supervisor_report& report) {
    using kind = supervisor_report::kind;
    switch (report.what) {
        case kind::started:
            journal_.event("started",
                           fmt::format("command runs as process {}", report.number),
                           {{"pid", report.number}});
            break;
        case kind::not_started:
            journal_.error(fmt::format("cannot run '{}': {}",
                                       escaped(options_.command.front()),
                                       std::strerror(report.number)));
            finish(exit_status::of_failed_start(report.number));
            break;
        case kind::not_suspended:
            journal_.error(fmt::format("the command cannot be suspended while it has the {}",
                                       undertaking_.name));
            break;
        case kind::terminating:
            lost("; ending the command");
            break;
        case kind::cannot_kill:
            cannot_kill(report.number);
            break;
        case kind::ended:
            command_ended(report.number);
            break;
        case kind::ended_by_loss:
            lost("; the command was ended");
            end_tenure(exit_status::lock_lost, false);
            break;
        case kind::supervisor_died:
            supervisor_died();
            break;
    }
}

void supervised_run::command_ended(int wait_status) {
    const int status = exit_status::of_command(wait_status);
    journal_.event("ended",
                   WIFSIGNALED(wait_status)
                       ? fmt::format("command was ended by {}", signal_name(WTERMSIG(wait_status)))
                       : fmt::format("command exited with status {}", status),
                   {{"status", status}});
    if (!tenure_->valid()) {
        // It may have worked without it, if only at its very end.
        lost(" while the command ran");
        end_tenure(exit_status::lock_lost, false);
    } else if (asked_to_end(wait_status)) {
        finish(status);
    } else {
        end_tenure(status, !given_way_);
    }
}

/// Whether a signal that latchkey got, and passed on, was meant to end them both.
bool supervised_run::asked_to_end(int wait_status) const {
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
        if (::sigismember(&forwarded_, signal) == 1) {
            return true;
        }
    }
    return WIFSIGNALED(wait_status) && ::sigismember(&forwarded_, WTERMSIG(wait_status)) == 1;
}

void supervised_run::supervisor_died() {
    journal_.error("the supervising process was killed; ending the command");
    kill_orphans();
    if (phase_ == phase::waiting) {
        cancel_.request_stop();
    }
    finish(exit_status::system_failed);
}

/// Of a supervisor that was killed.
void supervised_run::kill_orphans() const {
    kill_descendants([this](int left) { cannot_kill(left); });
}

void supervised_run::cannot_kill(int processes) const {
    journal_.error(
        fmt::format("{} of the command's processes survive SIGKILL so far; waiting", processes));
}

}  // namespace latchkey::cli
