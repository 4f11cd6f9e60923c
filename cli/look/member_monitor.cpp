#include "look/member_monitor.hpp"

#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>

#include "look/member_changes.hpp"
#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

namespace latchkey::cli {

member_monitor::member_monitor(const members_options& options, const status_output& output)
    : options_(options),
      output_(output),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, queue_, output),
      group_(client_, options.path) {}

int member_monitor::execute() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    const subscription watching = group_.on_change([this](const std::vector<group_member>& now) {
        queue_.post([this, now] { on_change(now); });
    });
    const std::jthread checking([this](const std::stop_token& stop) { check_access(stop); });
    while (!status_) {
        poll_events();
    }
    client_.close();  // ends the check, too
    return *status_;
}

/// The group keeps trying where it may not read. Here that ends the monitor.
void member_monitor::check_access(const std::stop_token& stop) {
    try {
        while (client_.wait_connected(no_timeout, stop)) {
            try {
                static_cast<void>(group_.members());
                return;
            } catch (const error& e) {
                if (e.code() != errc::unreachable) {
                    throw;
                }
            }
        }
    } catch (const error&) {
        queue_.post([this, failure = std::current_exception()] {
            if (!status_) {
                std::rethrow_exception(failure);
            }
        });
    }
}

void member_monitor::poll_events() {
    std::array<pollfd, 2> fds{{{signals_.fd(), POLLIN, 0}, {queue_.fd(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), connection_.poll_limit());
    while (const int signal = signals_.read()) {
        if (signal != SIGCONT) {
            status_ = status_.value_or(exit_status::success);
        }
    }
    queue_.run();
    connection_.report_trouble();
}

void member_monitor::on_change(const std::vector<group_member>& now) {
    std::string text;
    for (const auto& [event, who] : changes_between(known_, now)) {
        text += line_of_member(who, event, options_.json);
    }
    known_ = now;
    if (!status_ && !write_to_stdout(text)) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        status_ = exit_status::output_failed;
    }
}

}  // namespace latchkey::cli
