#include "serve/serve_run.hpp"

#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/service_manager.hpp"
#include "serve/reading_changes.hpp"
#include "serve/token.hpp"
#include "text/escape.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <boost/system/system_error.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

/// The stream descriptor closes its own.
int duplicate_of(int fd) {
    const int copy = ::dup(fd);
    if (copy < 0) {
        throw std::system_error(errno, std::generic_category(), "dup");
    }
    return copy;
}

std::string address_text(const listen_address& where, std::uint16_t port) {
    const bool is_v6 = where.host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("http://[{}]:{}/", where.host, port)
                 : fmt::format("http://{}:{}/", where.host, port);
}

}  // namespace

serve_run::serve_run(const serve_options& options, const status_output& output)
    : options_(options),
      output_(output),
      access_(options.is_loopback(),
              options.token_file ? read_token(*options.token_file) : std::string()),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, queue_, output),
      metrics_(options.max_labels),
      signalled_(io_, duplicate_of(signals_.fd())),
      tasks_(io_, duplicate_of(queue_.fd())),
      watchdog_(io_),
      trouble_(io_) {
    metrics_.add(client_);
    listen();
    readings_.emplace(lock_reader(client_, options.paths, options.max_znodes),
                      options.every,
                      [this](const shown& before, const shown& now) { on_reading(before, now); });
    site_.emplace(access_, metrics_, *readings_);
}

serve_run::~serve_run() {
    client_.close();
    readings_.reset();
}

void serve_run::listen() {
    try {
        server_.emplace(
            io_,
            boost::asio::ip::tcp::endpoint(boost::asio::ip::make_address(options_.listen.host),
                                           options_.listen.port),
            http_content{.answer = [this](const http_request& r) { return site_->answer(r); },
                         .first_events = [this] { return first_events(); }});
    } catch (const boost::system::system_error& e) {
        throw command_failure(exit_status::system_failed,
                              fmt::format("cannot listen on {}:{}: {}; give another --listen",
                                          escaped(options_.listen.host),
                                          options_.listen.port,
                                          e.code().message()));
    }
}

int serve_run::execute() {
    const std::string address = address_text(options_.listen, server_->port());
    if (!write_to_stdout(address + "\n")) {
        return exit_status::output_failed;
    }
    output_.event("listening", "listening on " + address);
    await_signals();
    await_tasks();
    await_trouble();
    await_watchdog();
    io_.run();
    output_.event("ended", fmt::format("ended by SIG{}", signal_name(ended_by_)));
    return exit_status::success;
}

void serve_run::await_signals() {
    signalled_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [this](const boost::system::error_code&) {
                              while (const int signal = signals_.read()) {
                                  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP ||
                                      signal == SIGQUIT) {
                                      ended_by_ = signal;
                                      io_.stop();
                                  }
                              }
                              await_signals();
                          });
}

void serve_run::await_tasks() {
    tasks_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code&) {
                          queue_.run();
                          connection_.throw_if_ended();
                          await_tasks();
                      });
}

/// Until it has been reported that no server was reached, or one was.
void serve_run::await_trouble() {
    if (connection_.poll_limit() < 0) {
        return;
    }
    trouble_.expires_after(std::chrono::milliseconds(connection_.poll_limit()));
    trouble_.async_wait([this](const boost::system::error_code&) {
        connection_.report_trouble();
        await_trouble();
    });
}

void serve_run::await_watchdog() {
    if (watchdog_fd() < 0) {
        return;
    }
    if (!watchdog_.is_open()) {
        watchdog_.assign(duplicate_of(watchdog_fd()));
    }
    watchdog_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code&) {
                             serve_watchdog();
                             await_watchdog();
                         });
}

/// On the thread of the readings.
void serve_run::on_reading(const shown& before, const shown& now) {
    const std::string& error = now->progress().error;
    if (!error.empty() && error != before->progress().error) {
        output_.event("reading_failed", error);
    }
    std::vector<shared_text> events{reading_event(*now)};
    if (before->last() == nullptr && now->last() != nullptr) {
        events.push_back(now->locks_event());
    } else if (now->last() != before->last()) {
        if (const auto changes = changes_json(*before->last(), *now->last())) {
            events.push_back(event_text("changes", line_of(*changes)));
        }
    }
    queue_.post([this, events = std::move(events)] {
        if (server_->readers_of_events() > 0) {
            readings_->asked();
        }
        for (const auto& event : events) {
            server_->publish(event);
        }
    });
}

std::vector<shared_text> serve_run::first_events() const {
    const auto now = readings_->latest();
    std::vector<shared_text> events{reading_event(*now)};
    if (now->last() != nullptr) {
        events.push_back(now->locks_event());
    }
    return events;
}

/// How old the reading is, the reader has to be told when it is sent.
shared_text serve_run::reading_event(const snapshot& s) const {
    json_object o = s.reading_json();
    o["age_ms"] = s.last() == nullptr
                      ? json_object()
                      : json_object(s.age(std::chrono::steady_clock::now()).count());
    return event_text("reading", line_of(o));
}

}  // namespace latchkey::cli
