#include "client/client_reports.hpp"

#include "text/escape.hpp"

#include <utility>

namespace latchkey::inline v0 {

client_reports::client_reports(const runtime& env,
                               const client_options& options,
                               std::shared_ptr<user_callbacks> callbacks,
                               std::function<void(const event&)> observer)
    : loop_(env.loop),
      wanted_timeout_(options.session_timeout),
      callbacks_(std::move(callbacks)),
      listeners_([this](std::function<void()> f) { callbacks_->call(std::move(f)); }),
      telemetry_(
          env.loop,
          [this] { return status_->session_id(); },
          observer ? std::make_shared<event_stream>(
                         std::move(observer), options.name, env.callbacks("latchkey-events"))
                   : nullptr),
      slow_callbacks_(*env.loop) {}

void client_reports::state_changed(connection_state s, const std::shared_ptr<const validity>& v) {
    if (s == connection_state::connected) {
        look_for_slow_callbacks();
        if (const auto granted = status_->session_timeout(); granted != wanted_timeout_) {
            log({log_level::warning,
                 "session-timeout",
                 "the servers granted a session timeout of " + std::to_string(granted.count()) +
                     " ms instead of " + std::to_string(wanted_timeout_.count()) +
                     " ms: ask for 2 to 20 of their ticks, or change their limits"});
        }
    }
    telemetry_.state_changed(s, v);
    if (status_->set_state(s)) {
        listeners_.notify(s);
    }
}

/// Also finds a callback that never returns, which could not report itself.
void client_reports::look_for_slow_callbacks() {
    const std::chrono::nanoseconds timeout = status_->session_timeout();
    callbacks_->set_limit(timeout / 10);
    callbacks_->report_slow();
    slow_callbacks_.start(timeout / 16, [this] { look_for_slow_callbacks(); });
}

void client_reports::trouble_changed(const session_event& trouble, bool connected) {
    using cause = session_event::cause;
    if (!trouble.detail.empty()) {
        const bool malformed = trouble.why != cause::unreachable;
        log({log_level::warning, malformed ? "malformed-reply" : "unreachable", trouble.detail});
    }
    if (trouble.why == cause::wrong_answer) {
        refusals_.add_malformed(trouble.detail, loop_->now());
    }
    // What is found while connected does not hinder the client.
    status_->set_trouble(connected ? std::string() : trouble.detail);
}

void client_reports::znode_answered(const std::string& path, request::kind what, result_code code) {
    if (code == result_code::ok) {
        refusals_.answered(path, what);
    } else if (refusals_.add(path, what, code, loop_->now())) {
        log({log_level::warning,
             "unexpected-answer",
             "a server answered with a code that Latchkey does not expect: " +
                 failure_of(code, path).detail,
             path});
    }
}

void client_reports::delete_refused(const std::string& path, result_code code) {
    const failure f = failure_of(code, path);
    log({log_level::error,
         "cannot-delete",
         "cannot delete " + f.detail + ": " + f.code.message() +
             "; trying again until the session ends",
         path});
}

void client_reports::directory_exposed(const std::string& path, const std::string& which) {
    const std::string shown = path.empty() ? "/" : path;
    log({log_level::warning,
         "open-directory",
         "the directory \"" + escaped(shown) +
             "\" was created with another access control list: " + "everyone has " + which +
             " on it and can end the locks in it; give it a list of its "
             "own (setAcl)",
         shown});
}

void client_reports::closed(const failure& why) {
    status_->set_closed(why);
    listeners_.notify(connection_state::closed);
    telemetry_.state_changed(connection_state::closed, nullptr);
    telemetry_.end([callbacks = callbacks_, status = status_] {
        callbacks->end([status] { status->ended.set(true); });
    });
}

}  // namespace latchkey::inline v0
