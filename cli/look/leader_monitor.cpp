#include "look/leader_monitor.hpp"

#include <latchkey/error.hpp>

#include "look/leader_text.hpp"
#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/status_output.hpp"
#include "text/escape.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

namespace latchkey::cli {

leader_monitor::leader_monitor(const elect_options& options, const status_output& output)
    : options_(options),
      output_(output),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, queue_, output) {}

int leader_monitor::execute() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    leader_observer observer(client_, options_.path);
    const subscription watching = observer.on_change([this](const std::optional<leader_info>& now) {
        queue_.post([this, now] { print(now); });
    });
    const std::jthread checking([this](const std::stop_token& stop) { check_access(stop); });
    while (!status_) {
        poll_events();
    }
    client_.close();  // ends the check, too
    return *status_;
}

/// The observer keeps trying where it may not read. Here that ends the monitor.
void leader_monitor::check_access(const std::stop_token& stop) {
    try {
        while (client_.wait_connected(no_timeout, stop)) {
            try {
                static_cast<void>(leader_observer::leader(client_, options_.path));
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

void leader_monitor::poll_events() {
    std::array<pollfd, 2> fds{{{signals_.fd(), POLLIN, 0}, {queue_.fd(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), connection_.poll_limit());
    while (const int signal = signals_.read()) {
        if (signal != SIGCONT) {
            finish(exit_status::success);
        }
    }
    queue_.run();
    connection_.report_trouble();
}

void leader_monitor::print(const std::optional<leader_info>& now) {
    if (!status_ &&
        !write_to_stdout(options_.json ? leader_json_line(options_.path, now) : leader_line(now))) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

}  // namespace latchkey::cli
