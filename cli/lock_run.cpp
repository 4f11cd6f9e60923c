#include "lock_run.hpp"

#include "descendants.hpp"
#include "exit_status.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "seconds.hpp"

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

lock_run::lock_run(const lock_options& options,
                   const client_options& how,
                   const signals& arriving,
                   supervisor* command,
                   const journal& told)
    : options_(options),
      signals_(arriving),
      supervisor_(command),
      journal_(told),
      client_(client::connect(options.servers, how)) {}

int lock_run::execute() {
    journal_.event("connecting", fmt::format("connecting to {}", printable(options_.servers)));
    // In this order they end: the waiting thread, the listener; then nobody posts to the inbox.
    const auto listening =
        client_.listen([this](connection_state s) { inbox_.post([this, s] { on_state(s); }); });
    {
        const std::jthread waiting([this] {
            auto result = std::make_shared<attempt_result>(
                attempt(client_, options_, cancel_.get_token(), [this](const place& p) {
                    inbox_.post([this, p] { on_place(p); });
                }));
            inbox_.post([this, result] { on_attempt(std::move(*result)); });
        });
        serve_events();
    }
    loss_.reset();
    if (hold_) {
        hold_.release();
        journal_.event("released", "released");
    }
    client_.close();
    return *status_;
}

void lock_run::serve_events() {
    while (!status_) {
        poll_events();
        if (phase_ == phase::running) {
            renew_deadline();
        }
    }
}

void lock_run::poll_events() {
    std::array<pollfd, 3> fds{{{signals_.fd(), POLLIN, 0},
                               {inbox_.fd(), POLLIN, 0},
                               {supervisor_ != nullptr ? supervisor_->fd() : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), poll_limit());
    while (const int signal = signals_.read()) {
        on_signal(signal);
    }
    inbox_.run();
    tell_trouble();
    while (supervisor_ != nullptr && !status_) {
        const auto report = supervisor_->read();
        if (!report) {
            return;
        }
        on_report(*report);
    }
}

int lock_run::poll_limit() const {
    switch (phase_) {
        case phase::waiting:
            return told_trouble_ ? -1 : 500;
        case phase::running:
            return static_cast<int>(
                std::max<std::int64_t>(client_.session_timeout().count() / 20, 10));
        default:
            return -1;
    }
}

void lock_run::on_signal(int signal) {
    if (phase_ == phase::running) {
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
    journal_.event("signal", fmt::format("{}: leaving the queue", signal_name(signal)));
    cancelled_by_ = cancelled_by_ == 0 ? signal : cancelled_by_;
    cancel_.request_stop();
    if (options_.try_only) {
        client_.close();  // a try has no other way to be cut short
    }
}

void lock_run::on_state(connection_state s) {
    if (s == connection_state::connected) {
        const auto timeout = client_.session_timeout();
        journal_.event("connected",
                       fmt::format("connected, session timeout {}", in_seconds(timeout)),
                       {{"session_timeout_ms", timeout.count()}});
    } else {
        journal_.event(to_string(s), to_string(s));
    }
}

void lock_run::on_place(const place& p) {
    if (p.position == 0) {
        return;  // "acquired" says it
    }
    const auto predecessor = printable(p.predecessor);
    journal_.event(
        "waiting",
        fmt::format("waiting behind {}, next before us is {}", p.position, predecessor),
        {{"node", printable(p.path)}, {"position", p.position}, {"predecessor", predecessor}});
}

void lock_run::on_attempt(attempt_result result) {
    if (cancelled_by_ != 0) {
        hold_ = std::move(result.granted);
        finish(exit_status::of_signal(cancelled_by_));
        return;
    }
    if (!result.granted) {
        if (!result.message.empty()) {
            journal_.error(result.message);
        } else {
            journal_.event("not_acquired", "not acquired");
        }
        finish(result.status);
        return;
    }
    hold_ = std::move(result.granted);
    const auto token = hold_.fencing_token().zxid;
    journal_.event("acquired",
                   fmt::format("acquired {}, token {}", printable(hold_.path()), token),
                   {{"node", printable(hold_.path())}, {"token", token}});
    loss_.emplace(hold_.lost(), [this] { inbox_.post([this] { on_loss(); }); });
    if (supervisor_ != nullptr) {
        start_command();
    } else {
        show_hold();
    }
}

void lock_run::start_command() {
    phase_ = phase::running;
    deadline_ = hold_.valid_until();
    const bool several = !options_.paths.empty();
    supervisor_->run({{"LATCHKEY_PATH", several ? lines_of(options_.paths) : options_.path},
                      {"LATCHKEY_NODE", lines_of(hold_.paths())},
                      {"LATCHKEY_TOKEN", std::to_string(hold_.fencing_token().zxid)}},
                     deadline_,
                     grace_within(options_, client_.session_timeout()));
}

void lock_run::show_hold() {
    phase_ = phase::holding;
    const auto token = hold_.fencing_token().zxid;
    std::string text;
    for (const std::string& node : hold_.paths()) {
        const std::string path =
            options_.paths.empty() ? options_.path : node.substr(0, node.rfind('/'));
        const nlohmann::ordered_json object{{"path", path}, {"node", node}, {"token", token}};
        text += options_.json ? object.dump() + '\n'
                              : fmt::format("{} {} {}\n", printable(path), printable(node), token);
    }
    if (!write_to_stdout(text)) {
        journal_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

void lock_run::renew_deadline() {
    // A lost hold answers with the past, so a late event costs nothing.
    const auto deadline = hold_.valid_until();
    if (deadline != deadline_) {
        deadline_ = deadline;
        supervisor_->move_deadline(deadline);
    }
}

void lock_run::on_loss() {
    if (phase_ == phase::running) {
        supervisor_->end_now();
    } else if (phase_ == phase::holding) {
        lost("");
        finish(exit_status::lock_lost);
    }
}

void lock_run::lost(const char* consequence) {
    if (!std::exchange(told_loss_, true)) {
        const auto why = hold_.why_lost();
        journal_.error(fmt::format("lock {} {}{}",
                                   printable(options_.path),
                                   why == loss::none
                                       ? "is about to be lost: no server has answered for long"
                                       : fmt::format("lost: {}", to_string(why)),
                                   consequence));
    }
}

void lock_run::on_report(const supervisor_report& report) {
    using kind = supervisor_report::kind;
    switch (report.what) {
        case kind::started:
            journal_.event("started",
                           fmt::format("command runs as process {}", report.number),
                           {{"pid", report.number}});
            break;
        case kind::not_started:
            journal_.error(fmt::format("cannot run '{}': {}",
                                       printable(options_.command.front()),
                                       std::strerror(report.number)));
            finish(exit_status::of_failed_start(report.number));
            break;
        case kind::not_suspended:
            journal_.error("the command cannot be suspended while it has the lock");
            break;
        case kind::terminating:
            lost("; ending the command");
            break;
        case kind::cannot_kill:
            journal_.error(fmt::format(
                "{} processes of the command survive SIGKILL so far; waiting", report.number));
            break;
        case kind::ended:
            command_ended(report.number);
            break;
        case kind::ended_by_loss:
            lost("; the command was ended");
            finish(exit_status::lock_lost);
            break;
        case kind::supervisor_died:
            supervisor_died();
            break;
    }
}

void lock_run::command_ended(int wait_status) {
    const int status = exit_status::of_command(wait_status);
    journal_.event("ended",
                   WIFSIGNALED(wait_status)
                       ? fmt::format("command was ended by {}", signal_name(WTERMSIG(wait_status)))
                       : fmt::format("command exited with status {}", status),
                   {{"status", status}});
    if (hold_.valid()) {
        finish(status);
        return;
    }
    // It may have worked without the lock, if only at its very end.
    lost(" while the command ran");
    finish(exit_status::lock_lost);
}

void lock_run::supervisor_died() {
    journal_.error("the supervising process was killed; ending the command");
    while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
        signal_descendants(SIGKILL);
        ::poll(nullptr, 0, 2);
    }
    if (phase_ == phase::waiting) {
        cancel_.request_stop();
    }
    finish(exit_status::system_failed);
}

void lock_run::tell_trouble() {
    const bool waiting = phase_ == phase::waiting && !told_trouble_ && cancelled_by_ == 0;
    if (!waiting || std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(2)) {
        return;
    }
    if (client_.state() != connection_state::connecting) {
        told_trouble_ = true;
        return;
    }
    if (const auto trouble = client_.trouble(); !trouble.empty()) {
        told_trouble_ = true;
        journal_.error(
            fmt::format("no server reached yet: {}; still trying", printable_message(trouble)));
    }
}

}  // namespace latchkey::cli
