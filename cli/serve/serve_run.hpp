#pragma once

#include <latchkey/client.hpp>

#include "look/connection_report.hpp"
#include "output/main_thread_queue.hpp"
#include "output/signals.hpp"
#include "output/status_output.hpp"
#include "serve/access_rules.hpp"
#include "serve/http_server.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/reading_loop.hpp"
#include "serve/serve_options.hpp"
#include "serve/site.hpp"

#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace latchkey::cli {

/// `latchkey serve`: a loop of readings on one thread, an HTTP server on the one that calls
/// execute().
class serve_run {
public:
    /// Both must outlive this object. Throws usage_error, command_failure and latchkey::error.
    serve_run(const serve_options& options, const status_output& output);
    serve_run(const serve_run&) = delete;
    serve_run& operator=(const serve_run&) = delete;

    /// Ends the readings before what they use is destroyed.
    ~serve_run();

    /// Serves until a signal arrives, and returns the exit status.
    [[nodiscard]] int execute();

private:
    using shown = std::shared_ptr<const snapshot>;

    void listen();
    void await_signals();
    void await_tasks();
    void await_trouble();
    void await_watchdog();
    void on_reading(const shown& before, const shown& now);
    [[nodiscard]] std::vector<shared_text> first_events() const;
    [[nodiscard]] shared_text reading_event(const snapshot& s) const;

    const serve_options& options_;
    const status_output& output_;
    const signals signals_;
    const access_rules access_;

    main_thread_queue queue_;
    client client_;
    connection_report connection_;
    lock_metrics metrics_;

    boost::asio::io_context io_;
    boost::asio::posix::stream_descriptor signalled_;
    boost::asio::posix::stream_descriptor tasks_;
    boost::asio::posix::stream_descriptor watchdog_;
    boost::asio::steady_timer trouble_;
    std::optional<reading_loop> readings_;
    std::optional<site> site_;
    std::optional<http_server> server_;
    int ended_by_ = 0;
};

}  // namespace latchkey::cli
