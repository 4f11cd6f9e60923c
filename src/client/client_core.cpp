#include "client/client_core.hpp"

#include "client/client_options.hpp"
#include "loop/callback_guard.hpp"
#include "loop/interruption.hpp"

#include <utility>

namespace latchkey::inline v0 {

namespace {

/// Announcements are repeated as often as heartbeats are sent: each seventh of the timeout.
std::unique_ptr<direct_handoffs> direct_for(const runtime& env, const client_options& options) {
    return options.direct.empty() ? nullptr
                                  : std::make_unique<direct_handoffs>(
                                        *env.loop,
                                        env.datagrams(parse_datagram_addresses(options.direct)),
                                        options.session_timeout / 7);
}

}  // namespace

client_core::client_core(runtime env, connect_target target, client_options options)
    : env_(std::move(env)),
      callbacks_(std::make_shared<user_callbacks>(env_,
                                                  std::exchange(options.log, nullptr),
                                                  std::exchange(options.executor, nullptr),
                                                  options.name)),
      reports_(env_, options, callbacks_, std::exchange(options.observer, nullptr)),
      options_(std::move(options)),
      access_(std::make_shared<const acl>(access_list_of(options_))),
      keeper_(env_, std::move(target), options_, reports_, *this),
      deletes_(
          *env_.loop,
          [this](request r, session::completion done) {
              r.urgent = true;
              submit(std::move(r), std::move(done));
          },
          [this](const std::string& path, result_code code) {
              reports_.delete_refused(path, code);
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
      direct_(direct_for(env_, options_)),
      close_limit_(*env_.loop) {}

std::shared_ptr<client_core> client_core::start(runtime env,
                                                connect_target target,
                                                client_options options) {
    check_options(options);
    // In a forked child it is not destroyed: its loop has no thread there.
    std::shared_ptr<client_core> core(
        new client_core(std::move(env), std::move(target), std::move(options)),
        [](client_core* made) {
            if (!made->forked()) {
                delete made;
            }
        });
    core->post([core] {
        if (core->direct_) {
            core->direct_->open();
        }
        core->keeper_.open();
    });
    if (core->env_.started) {
        core->env_.started([weak = core->weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->close_without_servers();
            }
        });
    }
    return core;
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

// ---- from the keeper ----

void client_core::session_connected() {
    deletes_.connected();
    users_.notify(&session_listener::session_connected);
    waiting_for_connection_.resume_all();
}

void client_core::session_suspended() {
    deletes_.suspended();
    users_.notify(&session_listener::session_suspended);
    lists_.suspended();
}

void client_core::session_retires() {
    // While the session still exists: it answers the lists behind what they were to show.
    lists_.suspended();
}

void client_core::session_ended(loss_reason why) {
    reports_.session_ended();
    users_.notify(&session_listener::session_ended, why);
    deletes_.session_ended(is_end_by_servers(why));
    drained_if_closing();
}

std::shared_ptr<znode_creates> client_core::want_again(const std::string& path) {
    auto creates = std::make_shared<znode_creates>();
    users_.notify(&session_listener::znode_wanted, path, creates);
    return creates;
}

void client_core::znode_missing(const std::string& path) {
    users_.notify(&session_listener::znode_missing, path);
}

// ---- closing ----

void client_core::begin_close(failure why, bool drain) {
    if (std::exchange(closing_, true)) {
        if (!drain && close_limit_.running()) {
            finish_close();
        }
        return;
    }
    closed_why_ = std::move(why);
    keeper_.open_no_more();
    users_.notify(&session_listener::client_closed, closed_why_);
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
    reports_.session_ended();
    deletes_.suspended();
    keeper_.close([self = shared_from_this()] {
        self->deletes_.session_ended(false);
        if (self->direct_) {
            self->direct_->close();
        }
        self->reports_.closed(self->closed_why_);
    });
}

void client_core::close() noexcept {
    post([self = shared_from_this()] {
        self->begin_close({errc::closed, "the client was closed"}, true);
    });
    if (may_block()) {
        const uninterrupted until_the_end;
        // The deletes, and a second for the servers to end the session.
        status().ended.get_for(options_.close_timeout + std::chrono::seconds(1));
    }
}

void client_core::close_without_servers() {
    post([self = shared_from_this()] {
        self->begin_close({errc::closed, "the in-process ensemble was destroyed"}, false);
    });
}

// ---- for threads outside ----

client_stats client_core::stats() const {
    client_stats now = reports_.telemetry().stats();
    now.deletes_pending = deletes_.size();
    now.callback_running_for = callbacks_->running_for();
    return now;
}

bool client_core::wait_connected(std::chrono::nanoseconds limit, const std::stop_token& stop) {
    check_may_block();
    return status().wait_connected(limit, stop);
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
