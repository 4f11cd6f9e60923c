#include "commands.hpp"
#include "look/monitor.hpp"
#include "output/exit_status.hpp"
#include "serve/access_rules.hpp"
#include "serve/http_server.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/reading_changes.hpp"
#include "serve/reading_loop.hpp"
#include "serve/serve_options.hpp"
#include "serve/site.hpp"
#include "serve/token.hpp"
#include "text/escape.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::string address_text(const listen_address& where, std::uint16_t port) {
    const bool is_v6 = where.host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("http://[{}]:{}/", where.host, port)
                 : fmt::format("http://{}:{}/", where.host, port);
}

/// Readings and an HTTP server on one loop.
class serve_run {
public:
    /// Both must outlive this object. Throws usage_error, command_failure and latchkey::error.
    serve_run(const serve_options& options, const status_output& output);
    serve_run(const serve_run&) = delete;
    serve_run& operator=(const serve_run&) = delete;

    /// Ends the readings before what they use is destroyed.
    ~serve_run() { all_.zk().close(); }

    /// Serves until a signal arrives, and returns the exit status.
    [[nodiscard]] int execute();

private:
    using shown = reading_loop::shown;

    void listen();
    [[nodiscard]] main_loop::task on_reading(const shown& before, const shown& now);
    [[nodiscard]] std::vector<shared_text> first_events() const;
    [[nodiscard]] static shared_text reading_event(const snapshot& s);

    const serve_options& options_;
    const status_output& output_;
    monitor all_;
    const access_rules access_;
    lock_metrics metrics_;
    std::optional<http_server> server_;
    std::optional<reading_loop> readings_;
    std::optional<site> site_;
};

serve_run::serve_run(const serve_options& options, const status_output& output)
    : options_(options),
      output_(output),
      all_(options, output),
      access_(options.is_loopback(),
              options.token_file ? read_token(*options.token_file) : std::string()),
      metrics_(options.max_labels) {
    metrics_.add(all_.zk());
    listen();
    readings_.emplace(
        all_.loop(),
        lock_reader(all_.zk(), options.paths, options.max_znodes),
        options.every,
        [this](const shown& before, const shown& now) { return on_reading(before, now); });
    site_.emplace(access_, metrics_, *readings_);
}

void serve_run::listen() {
    try {
        server_.emplace(
            all_.loop().io(),
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
    all_.print(address + "\n");
    output_.event("listening", "listening on " + address);
    return all_.loop().run_until_ended(output_);
}

/// On the thread of a reading.
main_loop::task serve_run::on_reading(const shown& before, const shown& now) {
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
    return [this, events = std::move(events)] {
        if (server_->readers_of_events() > 0) {
            readings_->asked();
        }
        for (const auto& event : events) {
            server_->publish(event);
        }
    };
}

std::vector<shared_text> serve_run::first_events() const {
    const shown now = readings_->latest();
    std::vector<shared_text> events{reading_event(*now)};
    if (now->last() != nullptr) {
        events.push_back(now->locks_event());
    }
    return events;
}

/// How old the reading is, the reader has to be told when it is sent.
shared_text serve_run::reading_event(const snapshot& s) {
    json_object o = s.reading_json();
    o["age_ms"] = s.last() == nullptr
                      ? json_object()
                      : json_object(s.age(std::chrono::steady_clock::now()).count());
    return event_text("reading", line_of(o));
}

}  // namespace

int serve_command(const std::vector<std::string>& arguments, status_output& output) {
    const auto options = serve_options::from(arguments);
    output = status_output(options.verbose, options.json);
    return serve_run(options, output).execute();
}

}  // namespace latchkey::cli
