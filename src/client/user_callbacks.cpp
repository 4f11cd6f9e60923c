#include "client/user_callbacks.hpp"

#include "loop/callback_guard.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace latchkey::inline v0 {

const char* to_string(log_level l) noexcept {
    switch (l) {
        case log_level::debug:
            return "debug";
        case log_level::info:
            return "info";
        case log_level::warning:
            return "warning";
        case log_level::error:
            return "error";
    }
    return "unknown";
}

user_callbacks::user_callbacks(const runtime& env,
                               log_function log,
                               strand::executor executor,
                               std::string client)
    : loop_(env.loop),
      logs_(static_cast<bool>(log)),
      client_(std::move(client)),
      log_(std::move(log)),
      users_(executor ? std::optional<strand>(std::move(executor)) : std::nullopt),
      callbacks_{.runs = "a listener, a handler or `log`",
                 .run = env.callbacks(users_ ? "latchkey-exec" : "latchkey-user")},
      stops_{.runs = "a stop callback", .run = env.callbacks("latchkey-stop")} {}

/// What is left of the user's: the executor, and `log` if the executor did not run the end.
user_callbacks::~user_callbacks() {
    if ((users_ || log_) && !loop_->stepped()) {
        callbacks_.run([users = std::move(users_), log = std::move(log_)] {});
    }
}

void user_callbacks::call(move_only_function<void()> code) {
    hand_over(callbacks_, std::move(code));
}

void user_callbacks::request_stops(std::vector<std::stop_source> stops,
                                   move_only_function<void()> then) {
    hand_over(stops_, [this, stops = std::move(stops), then = std::move(then)]() mutable noexcept {
        for (std::stop_source& stop : stops) {
            stop.request_stop();
        }
        if (then) {
            call(std::move(then));
        }
    });
}

void user_callbacks::log(log_line line, std::int64_t session) {
    if (logs_) {
        call([this, line = std::move(line), session] { deliver(line, session); });
    }
}

void user_callbacks::deliver(const log_line& line, std::int64_t session) const {
    if (log_) {
        log_({.level = line.level,
              .id = line.id,
              .text = line.text,
              .client = client_,
              .session = session,
              .path = line.path});
    }
}

void user_callbacks::end(move_only_function<void()> done) {
    if (users_) {
        // `done` comes last: afterwards the user may destroy what the executor refers to.
        call([this] { log_ = nullptr; });
        callbacks_.run([self = shared_from_this(), done = std::move(done)]() mutable {
            self->hand_over(self->stops_, std::move(done));
        });
        return;
    }
    request_stops({}, [this, done = std::move(done)]() mutable {
        log_ = nullptr;
        done();
    });
}

void user_callbacks::hand_over(thread& to, move_only_function<void()> code) {
    move_only_function<void()> task =
        [self = shared_from_this(), &to, code = std::move(code)]() mutable {
            self->run(to, std::move(code));
        };
    if (&to == &callbacks_ && users_) {
        task = [all = *users_, task = std::move(task)]() mutable { all.run(std::move(task)); };
    }
    to.run(std::move(task));
}

void user_callbacks::run(thread& here, move_only_function<void()> code) noexcept {
    here.since = loop_->now().time_since_epoch().count();
    run_callback(std::move(code), [this, &here](std::string_view what) {
        if (&here != &callbacks_) {
            return;
        }
        deliver({log_level::error, "callback-threw", std::string(what)}, 0);
        print_once(what);
    });
    report_if_slow(here);
    here.since = 0;
}

void user_callbacks::print_once(std::string_view what) {
    if (!logs_ && !threw_.exchange(true)) {
        const std::string line = "latchkey: " + escaped_message(what) +
                                 " (client_options::log receives all such errors)\n";
        std::fputs(line.c_str(), stderr);
    }
}

// ---- callbacks that take too long ----

void user_callbacks::report_slow() {
    report_if_slow(callbacks_);
    report_if_slow(stops_);
}

void user_callbacks::report_if_slow(thread& t) {
    using std::chrono::milliseconds;
    const std::chrono::nanoseconds limit(limit_.load());
    const auto running = running_for(t);
    if (limit.count() == 0 || running <= limit || t.reported.exchange(true)) {
        return;
    }
    const auto ms = [](std::chrono::nanoseconds d) {
        return std::to_string(std::chrono::ceil<milliseconds>(d).count()) + " ms";
    };
    log({log_level::warning,
         "slow-callback",
         std::string("slow callback: ") + t.runs + " has run for " + ms(running) +
             ", longer than " + ms(limit) +
             "; the next callbacks wait until it returns: move long work to another thread"});
}

std::chrono::nanoseconds user_callbacks::running_for() const noexcept {
    return std::max(running_for(callbacks_), running_for(stops_));
}

std::chrono::nanoseconds user_callbacks::running_for(const thread& t) const noexcept {
    const clock::rep since = t.since;
    return since == 0 ? std::chrono::nanoseconds::zero()
                      : loop_->now() - clock::time_point(clock::duration(since));
}

}  // namespace latchkey::inline v0
