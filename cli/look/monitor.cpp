#include "look/monitor.hpp"

#include <latchkey/duration.hpp>
#include <latchkey/error.hpp>

#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stop_token>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

/// Until it has succeeded once.
void read_once(const client& c, const std::function<void()>& read, const std::stop_token& stop) {
    while (c.wait_connected(no_timeout, stop)) {
        try {
            read();
            return;
        } catch (const error& e) {
            if (!is_transient(e)) {
                throw;
            }
        }
    }
}

}  // namespace

monitor::monitor(const program_options& options, const status_output& output)
    : options_(options),
      output_(output),
      loop_(signals_),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, loop_, output) {
    connection_.throw_when_ended();
    loop_.on_signal([this](int signal) {
        if (signal != SIGCONT) {
            loop_.finish(exit_status::success);
        }
    });
}

int monitor::run() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    return loop_.run();
}

int monitor::run(const std::function<void()>& read) {
    background_call checking(loop_);
    checking.start([this, &read](const std::stop_token& stop) -> main_loop::task {
        read_once(client_, read, stop);
        return [] {};
    });
    const int status = run();
    client_.close();  // ends the check, too
    return status;
}

void monitor::print(std::string_view text) {
    const auto waits = [this] { return loop_.take_signals(); };
    if (!loop_.finished() && !write_to_stdout(text, waits) && errno != ETIMEDOUT) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        loop_.finish(exit_status::output_failed);
    }
}

}  // namespace latchkey::cli
