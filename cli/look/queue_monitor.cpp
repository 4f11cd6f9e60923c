#include "look/queue_monitor.hpp"

#include <latchkey/error.hpp>

#include "client/client_core.hpp"
#include "look/queue_changes.hpp"
#include "look/queue_json.hpp"
#include "look/queue_text.hpp"
#include "output/exit_status.hpp"
#include "output/screen.hpp"
#include "text/escape.hpp"

#include <stop_token>
#include <string>
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
      all_(options, output),
      looking_(all_.loop()),
      due_(all_.loop()),
      redraw_(all_.loop()) {
    watch_ = std::make_shared<path_watch>(
        client_core::of(all_.zk()),
        options.paths.front(),
        [this] { all_.loop().post([this] { begin_look(); }); },
        [this] { all_.loop().post([this] { want_look(); }); });
}

queue_monitor::~queue_monitor() {
    watch_->end();
    all_.zk().close();
}

int queue_monitor::execute() {
    if (on_terminal_) {
        all_.print("\x1b[2J");
        show_screen();
    }
    look_when_due();
    return all_.run();
}

// ---- looks ----

void queue_monitor::want_look() {
    wanted_ = true;
    look_when_due();
}

void queue_monitor::look_when_due() {
    const auto now = clock::now();
    if (!wanted_ || under_way_) {
        return;
    }
    if (now < not_before_) {
        due_.start(not_before_ - now, [this] { look_when_due(); });
        return;
    }
    wanted_ = false;
    under_way_ = true;
    not_before_ = now + between_looks;
    watch_->arm();
}

void queue_monitor::begin_look() {
    looking_.start([this](const std::stop_token&) -> main_loop::task {
        try {
            return [this, v = inspect(all_.zk(), options_.paths.front())] { looked(v); };
        } catch (const error&) {
            return [this, why = std::current_exception()] { look_failed(why); };
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
    look_when_due();
}

/// Without servers it goes on: they may come back.
void queue_monitor::look_failed(const std::exception_ptr& why) {
    try {
        std::rethrow_exception(why);
    } catch (const error& e) {
        if (!is_transient(e)) {
            throw;
        }
        output_.event("unreachable", escaped_message(e.what()));
        under_way_ = false;
        watch_->end();  // it may be armed still
        not_before_ = clock::now() + after_a_failure;
        want_look();
    }
}

// ---- what is shown ----

void queue_monitor::show_screen() {
    redraw_.start(between_draws, [this] { show_screen(); });
    std::string text;
    if (shown_) {
        text = queue_text(*shown_, {.color = may_color()});
    } else {
        text = fmt::format(
            "{}: connecting to {}\n", escaped(options_.paths.front()), escaped(options_.servers));
    }
    const connection_state now = all_.zk().state();
    if (shown_ && now != connection_state::connected && now != connection_state::reconnected) {
        text += "not connected: this is what was seen last\n";
    }
    all_.print(drawn(text, screen_size_of_stdout()));
}

void queue_monitor::show_changes(const queue_view& now) {
    const auto time = time_text(wall_clock::now());
    for (const queue_change& c : changes_between(shown_, now)) {
        if (options_.json) {
            json_object o{{"time", time}};
            o.update(json_of(c, now));
            all_.print(line_of(o));
        } else {
            all_.print(time + ' ' + text_of(c, now) + '\n');
        }
    }
}

}  // namespace latchkey::cli
