#include "client/client_core.hpp"

#include "client/client_options.hpp"
#include "loop/callback_guard.hpp"
#include "loop/interruption.hpp"

#include <utility>

namespace latchkey::inline v0 {
namespace {

/// Takes the observer out of the options. Null if there is none.
std::shared_ptr<event_stream> events_of(const runtime& env, client_options& options) {
    return options.observer
               ? std::make_shared<event_stream>(std::exchange(options.observer, nullptr),
                                                options.name,
                                                env.callbacks("latchkey-events"))
               : nullptr;
}

}  // namespace

client_core::client_core(runtime env,
                         connect_target target,
                         client_options options,
                         std::shared_ptr<event_stream> events)
    : env_(std::move(env)),
      callbacks_(std::make_shared<user_callbacks>(env_,
                                                  std::exchange(options.log, nullptr),
                                                  std::exchange(options.executor, nullptr),
                                                  options.name)),
      options_(std::move(options)),
      access_(std::make_shared<const acl>(options_.access)),
      listeners_([this](std::function<void()> f) { call(std::move(f)); }),
      status_(std::make_shared<client_status>()),
      telemetry_(
          env_.loop, [this] { return session_id(); }, std::move(events)),
      keeper_(env_, std::move(target), options_, *this),
      deletes_(
          *env_.loop,
          [this](request r, session::completion done) {
              r.urgent = true;
              submit(std::move(r), std::move(done));
          },
          [this](const std::string& path, result_code code) {
              const failure f = failure_of(code, path);
              log({log_level::error,
                   "cannot-delete",
                   "cannot delete " + f.detail + ": " + f.code.message() +
                       "; trying again until the session ends",
                   path});
          },
          [this] { drained_if_closing(); }),
      lists_(
          [this](request r, session::completion done) {
              // The completion may drop the last reference to the core.
              submit(std::move(r), [weak = weak_from_this(), done = std::move(done)](reply answer) {
                  const auto keep = weak.lock();
                  done(std::move(answer));
              });
          },
          [this](bool delayed) { delayed ? window_.sent() : window_.answered(); }),
      slow_callbacks_(*env_.loop),
      close_limit_(*env_.loop) {}

std::shared_ptr<client_core> client_core::start(runtime env,
                                                connect_target target,
                                                client_options options) {
    check_options(options);
    if (options.access.empty()) {
        const bool certified = options.tls && !options.tls->certificate_file.empty();
        const bool known = certified || !options.auth.empty();
        options.access = known ? creator_only_acl() : open_unsafe_acl();
    }
    auto events = events_of(env, options);
    // In a forked child it is not destroyed: its loop has no thread there.
    std::shared_ptr<client_core> core(
        new client_core(std::move(env), std::move(target), std::move(options), std::move(events)),
        [](client_core* made) {
            if (!made->forked()) {
                delete made;
            }
        });
    core->post([core] { core->keeper_.open(); });
    if (core->env_.started) {
        core->env_.started([weak = core->weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->close_without_servers();
            }
        });
    }
    return core;
}

void client_core::submit(request r, session::completion done) {
    submit(std::move(r), nullptr, std::move(done));
}

void client_core::submit(request r,
                         const std::shared_ptr<session::watcher>& w,
                         session::completion done) {
    if (window_.is_entered() && keeper_.opened()) {
        window_.sent();
        done = [this, done = std::move(done)](reply answer) {
            // What runs in the window may drop the last reference to the core.
            const auto keep = weak_from_this().lock();
            window_.answered();
            done(std::move(answer));
        };
    }
    keeper_.submit(std::move(r), w, std::move(done));
}

oneshot<reply> client_core::send(request r) {
    oneshot<reply> answer;
    submit(std::move(r), answer.setter());
    return answer;
}

void client_core::attach(std::shared_ptr<session_listener> user) {
    user->place_ = users_.size();
    users_.push_back(std::move(user));
}

void client_core::detach(session_listener* user) {
    heartbeat().withdraw(user);
    const std::size_t place = std::exchange(user->place_, session_listener::detached);
    if (place == session_listener::detached) {
        return;
    }
    const auto keep = std::exchange(users_[place], std::move(users_.back()));
    users_.pop_back();
    if (place < users_.size()) {
        users_[place]->place_ = place;
    }
}

// ---- from the keeper ----

void client_core::state_changed(connection_state s) {
    if (s == connection_state::connected) {
        look_for_slow_callbacks();
        if (session_timeout() != options_.session_timeout) {
            log({log_level::warning,
                 "session-timeout",
                 "the servers granted a session timeout of " +
                     std::to_string(session_timeout().count()) + " ms instead of " +
                     std::to_string(options_.session_timeout.count()) +
                     " ms: ask for 2 to 20 of their ticks, or change their limits"});
        }
    }
    telemetry_.state_changed(s, session_validity());
    if (status_->set_state(s)) {
        listeners_.tell(s);
    }
}

void client_core::trouble_changed(const session_event& trouble) {
    using cause = session_event::cause;
    const std::string& why = trouble.detail;
    if (!why.empty()) {
        const bool malformed = trouble.why != cause::unreachable;
        log({log_level::warning, malformed ? "malformed-reply" : "unreachable", why});
    }
    if (trouble.why == cause::wrong_answer) {
        refusals_.add_malformed(why, loop().now());
    }
    // What is found while connected does not hinder the client.
    status_->set_trouble(connected() ? std::string() : why);
}

void client_core::directory_exposed(const std::string& path, const std::string& which) {
    const std::string shown = path.empty() ? "/" : path;
    log({log_level::warning,
         "open-directory",
         "the directory \"" + escaped(shown) +
             "\" was created with another access control list: " + "everyone has " + which +
             " on it and can end the locks in it; give it a list of its "
             "own (setAcl)",
         shown});
}

void client_core::request_sent() noexcept {
    telemetry_.sent();
}

void client_core::request_answered(request::kind what,
                                   std::chrono::nanoseconds took,
                                   result_code code,
                                   bool quorum_write) {
    telemetry_.answered(what, took, code, quorum_write);
}

void client_core::znode_answered(const std::string& path, request::kind what, result_code code) {
    if (code == result_code::ok) {
        refusals_.answered(path, what);
    } else if (refusals_.add(path, what, code, loop().now())) {
        log({log_level::warning,
             "unexpected-answer",
             "a server answered with a code that Latchkey does not expect: " +
                 failure_of(code, path).detail,
             path});
    }
}

void client_core::session_connected() {
    deletes_.connected();
    for (const auto& user : users()) {
        user->session_connected();
    }
    waiting_for_connection_.resume_all();
}

void client_core::session_suspended() {
    deletes_.suspended();
    for (const auto& user : users()) {
        user->session_suspended();
    }
    lists_.suspended();
}

void client_core::session_retires() {
    // While the session still exists: it answers the lists behind what they were to show.
    lists_.suspended();
}

void client_core::session_ended(loss_reason why) {
    slow_callbacks_.cancel();
    for (const auto& user : users()) {
        user->session_ended(why);
    }
    deletes_.session_ended(is_end_by_servers(why));
    drained_if_closing();
}

void client_core::validity_passed() {
    for (const auto& user : users()) {
        user->validity_passed();
    }
}

std::shared_ptr<znode_creates> client_core::want_again(const std::string& path) {
    auto creates = std::make_shared<znode_creates>();
    for (const auto& user : users()) {
        user->znode_wanted(path, creates);
    }
    return creates;
}

void client_core::znode_missing(const std::string& path) {
    for (const auto& user : users()) {
        user->znode_missing(path);
    }
}

void client_core::client_closed(const failure& why) {
    begin_close(why, false);
}

std::shared_ptr<const void> client_core::keep_alive() {
    return shared_from_this();
}

/// Also finds a callback that never returns, which could not report itself.
void client_core::look_for_slow_callbacks() {
    callbacks_->set_limit(session_timeout() / 10);
    callbacks_->report_slow();
    slow_callbacks_.start(std::chrono::nanoseconds(session_timeout()) / 16,
                          [this] { look_for_slow_callbacks(); });
}

// ---- closing ----

void client_core::begin_close(failure why, bool drain) {
    if (std::exchange(closing_, true)) {
        return;
    }
    closed_why_ = std::move(why);
    keeper_.open_no_more();
    for (const auto& user : users()) {
        user->client_closed(closed_why_);
    }
    if (!drain || session_id() == 0 || deletes_.empty()) {
        finish_close();
        return;
    }
    // While it drains, nothing else may hold a reference, and the core must not be destroyed on a
    // callback's thread.
    close_limit_.start(options_.close_timeout,
                       [self = shared_from_this()] { self->finish_close(); });
}

void client_core::drained_if_closing() {
    if (closing_ && close_limit_.running() && deletes_.empty()) {
        finish_close();
    }
}

void client_core::finish_close() {
    const auto keep = shared_from_this();
    close_limit_.cancel();
    slow_callbacks_.cancel();
    deletes_.suspended();
    keeper_.close([self = shared_from_this()] {
        self->deletes_.session_ended(false);
        self->status_->set_closed(self->closed_why_);
        self->listeners_.tell(connection_state::closed);
        self->telemetry_.state_changed(connection_state::closed, nullptr);
        self->telemetry_.end([callbacks = self->callbacks_, status = self->status_] {
            callbacks->end([status] { status->ended.set(true); });
        });
    });
}

void client_core::close() noexcept {
    post([self = shared_from_this()] {
        self->begin_close({errc::closed, "the client was closed"}, true);
    });
    if (may_block()) {
        const uninterrupted until_the_end;
        // The deletes, and a second for the servers to end the session.
        status_->ended.get_for(options_.close_timeout + std::chrono::seconds(1));
    }
}

void client_core::close_without_servers() {
    post([self = shared_from_this()] {
        if (self->close_limit_.running()) {
            self->finish_close();
        } else {
            self->begin_close({errc::closed, "the in-process ensemble was destroyed"}, false);
        }
    });
}

// ---- for threads outside ----

client_stats client_core::stats() const {
    client_stats now = telemetry_.stats();
    now.deletes_pending = deletes_.size();
    now.callback_running_for = callbacks_->running_for();
    return now;
}

bool client_core::wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop) {
    check_may_block();
    return status_->wait_connected(limit, stop);
}

bool client_core::may_block() const noexcept {
    return !in_callback() && !env_.loop->on_loop() && !env_.loop->stepped();
}

void client_core::check_not_forked() const {
    if (forked()) {
        throw error(errc::forked,
                    "this client belongs to the parent process: connect another one in the child");
    }
}

void client_core::check_may_block() const {
    check_not_forked();
    if (!may_block()) {
        throw error(errc::would_deadlock,
                    "blocking calls are not allowed in callbacks, nor on a stepped in-process "
                    "ensemble: use the asynchronous form");
    }
}

}  // namespace latchkey::inline v0
