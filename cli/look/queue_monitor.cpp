#include "look/queue_monitor.hpp"

#include <latchkey/error.hpp>

#include "client/client_core.hpp"
#include "look/queue_changes.hpp"
#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "options/connecting.hpp"
#include "output/exit_status.hpp"
#include "output/screen.hpp"
#include "output/service_manager.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace latchkey::cli {

namespace {

constexpr std::chrono::milliseconds between_looks{200};
constexpr std::chrono::milliseconds after_a_failure{1000};
constexpr std::chrono::milliseconds between_draws{1000};

}  // namespace

queue_monitor::queue_monitor(const path_options& options, const status_output& output)
    : options_(options),
      output_(output),
      on_terminal_(!options.json && ::isatty(STDOUT_FILENO) == 1),
      queue_(std::make_shared<main_thread_queue>()),
      client_(client::connect(options.servers, client_options_of(options, output))),
      connection_(client_, *queue_, output) {
    watch_ = std::make_shared<path_watch>(
        client_core::of(client_),
        options.paths.front(),
        [this, queue = queue_] { queue->post([this] { begin_look(); }); },
        [this, queue = queue_] { queue->post([this] { wanted_ = true; }); });
}

queue_monitor::~queue_monitor() {
    watch_->end();
    client_.close();
    looking_ = {};
}

int queue_monitor::execute() {
    output_.event("connecting", fmt::format("connecting to {}", escaped(options_.servers)));
    if (on_terminal_) {
        write("\x1b[2J");
    }
    while (!status_) {
        work();
        poll_events();
    }
    return *status_;
}

/// Begins what is due.
void queue_monitor::work() {
    const auto now = clock::now();
    if (wanted_ && !under_way_ && now >= not_before_) {
        wanted_ = false;
        under_way_ = true;
        not_before_ = now + between_looks;
        watch_->arm();
    }
    if (on_terminal_ && now - drawn_ >= between_draws) {
        show_screen();
    }
}

int queue_monitor::poll_limit() const {
    const auto now = clock::now();
    auto limit = std::chrono::nanoseconds::max();
    if (wanted_ && !under_way_) {
        limit = std::min<std::chrono::nanoseconds>(limit, not_before_ - now);
    }
    if (on_terminal_) {
        limit = std::min<std::chrono::nanoseconds>(limit, drawn_ + between_draws - now);
    }
    if (connection_.poll_limit() >= 0) {
        limit = std::min<std::chrono::nanoseconds>(
            limit, std::chrono::milliseconds(connection_.poll_limit()));
    }
    if (limit == std::chrono::nanoseconds::max()) {
        return -1;
    }
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    return static_cast<int>(std::max<std::int64_t>(whole, 0));
}

void queue_monitor::poll_events() {
    wait_readable({signals_.fd(), queue_->fd()}, poll_limit());
    while (const int signal = signals_.read()) {
        if (signal != SIGCONT) {
            finish(exit_status::success);
        }
    }
    queue_->run();
    connection_.report_trouble();
    if (!status_) {
        connection_.throw_if_ended();
    }
}

// ---- looks ----

void queue_monitor::begin_look() {
    looking_ = std::jthread([this] {
        try {
            queue_->post([this, v = inspect(client_, options_.paths.front())]() mutable {
                looked(std::move(v));
            });
        } catch (const error&) {
            queue_->post([this, why = std::current_exception()] { look_failed(why); });
        }
    });
}

void queue_monitor::looked(queue_view v) {
    under_way_ = false;
    if (!on_terminal_) {
        show_changes(v);
    }
    shown_ = std::move(v);
    if (on_terminal_) {
        show_screen();
    }
}

/// Without servers it goes on: they may come back.
void queue_monitor::look_failed(const std::exception_ptr& why) {
    if (status_) {
        return;
    }
    try {
        std::rethrow_exception(why);
    } catch (const error& e) {
        if (!is_transient(e)) {
            throw;
        }
        output_.event("unreachable", escaped_message(e.what()));
        under_way_ = false;
        wanted_ = true;
        not_before_ = clock::now() + after_a_failure;
    }
}

// ---- what is shown ----

void queue_monitor::show_screen() {
    drawn_ = clock::now();
    std::string text;
    if (shown_) {
        text = queue_text(*shown_, {.color = may_color()});
    } else {
        text = fmt::format(
            "{}: connecting to {}\n", escaped(options_.paths.front()), escaped(options_.servers));
    }
    const connection_state now = client_.state();
    if (shown_ && now != connection_state::connected && now != connection_state::reconnected) {
        text += "not connected: this is what was seen last\n";
    }
    write(drawn(text, screen_size_of_stdout()));
}

void queue_monitor::show_changes(const queue_view& now) {
    const auto time = time_text(wall_clock::now());
    for (const queue_change& c : changes_between(shown_, now)) {
        if (options_.json) {
            json_object o{{"time", time}};
            o.update(json_of(c, now));
            write(line_of(o));
        } else {
            write(time + ' ' + text_of(c, now) + '\n');
        }
    }
}

void queue_monitor::write(const std::string& text) {
    if (!status_ && !write_to_stdout(text)) {
        output_.error(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        finish(exit_status::output_failed);
    }
}

}  // namespace latchkey::cli
