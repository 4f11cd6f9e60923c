#include "run/run_report.hpp"

#include "options/duration_text.hpp"
#include "output/exit_status.hpp"
#include "output/signals.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace latchkey::cli {

void run_report::acquired(const held_resource& held) const {
    const auto node = escaped(held.nodes.front());
    nlohmann::json details{{"node", node}};
    std::string token;
    if (held.token) {
        details["token"] = std::to_string(*held.token);
        token = fmt::format(", token {}", *held.token);
    }
    output_.event(kind_.acquired, fmt::format("{} {}{}", kind_.acquired, node, token), details);
}

void run_report::skipped() const {
    output_.event("skipped",
                  fmt::format("the command has succeeded within the last {}: not run again",
                              in_seconds(*options_.once_per)));
}

void run_report::started(int pid) const {
    output_.event("started", fmt::format("command runs as process {}", pid), {{"pid", pid}});
}

void run_report::ended(int wait_status) const {
    const int status = exit_status::of_command(wait_status);
    output_.event("ended",
                  WIFSIGNALED(wait_status)
                      ? fmt::format("command was ended by {}", signal_name(WTERMSIG(wait_status)))
                      : fmt::format("command exited with status {}", status),
                  {{"status", status}});
}

void run_report::kept(std::chrono::nanoseconds owed) const {
    output_.event("keeping",
                  fmt::format("keeping the {} for another {}", kind_.name, in_seconds(owed)));
}

void run_report::hand_over_requested() const {
    output_.event("wanted", "asked to hand over: ending the command");
}

void run_report::released() const {
    output_.event(kind_.released, kind_.released);
}

void run_report::not_started(int error_number) const {
    output_.error(fmt::format(
        "cannot run '{}': {}", escaped(options_.command.front()), std::strerror(error_number)));
}

void run_report::not_suspended() const {
    output_.error(fmt::format("the command cannot be suspended while it has the {}", kind_.name));
}

void run_report::lost(loss_reason why, const char* consequence) const {
    output_.error(fmt::format("{} {} {}{}",
                              kind_.name,
                              escaped(options_.path),
                              why == loss_reason::none
                                  ? "is about to be lost: no server has answered in time"
                                  : fmt::format("lost: {}", to_string(why)),
                              consequence));
}

void run_report::held_too_long(const char* consequence) const {
    output_.error(fmt::format("{} {} has reached the limit of --max-hold, {}; {}",
                              kind_.name,
                              escaped(options_.path),
                              in_seconds(*options_.max_hold),
                              consequence));
}

void run_report::survivors(int processes) const {
    output_.error(fmt::format(
        "{} processes of the command have survived SIGKILL so far; waiting for them", processes));
}

void run_report::not_written() const {
    output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

}  // namespace latchkey::cli
