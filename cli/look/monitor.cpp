#include "look/monitor.hpp"

#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>

#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/service_manager.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>

#include <fmt/format.h>

namespace latchkey::cli {

monitor::monitor(const program_options& options, const status_output& output)
    : options_(options),
      output_(output),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, queue_, output) {}

int monitor::run(const std::function<void()>& read) {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    const std::jthread checking(
        [this, &read](const std::stop_token& stop) { check_access(read, stop); });
    while (!status_) {
        poll_events();
    }
    client_.close();  // ends the check, too
    return *status_;
}

void monitor::check_access(const std::function<void()>& read, const std::stop_token& stop) {
    try {
        while (client_.wait_connected(no_timeout, stop)) {
            try {
                read();
                return;
            } catch (const error& e) {
                if (!is_transient(e)) {
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

void monitor::poll_events() {
    wait_readable({signals_.fd(), queue_.fd()}, connection_.poll_limit());
    while (const int signal = signals_.read()) {
        if (signal != SIGCONT) {
            finish(exit_status::success);
        }
    }
    queue_.run();
    connection_.report_trouble();
    if (!status_) {
        connection_.throw_if_ended();
    }
}

void monitor::print(std::string_view text) {
    if (!status_ && !write_to_stdout(text)) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

}  // namespace latchkey::cli
