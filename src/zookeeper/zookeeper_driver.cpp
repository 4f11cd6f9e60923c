#include "zookeeper/zookeeper_driver.hpp"

#include "loop/fork_guard.hpp"
#include "loop/never_destroyed.hpp"
#include "session/request_check.hpp"
#include "zookeeper/session_close.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// When this many requests are in flight, others wait on this side.
constexpr std::size_t most_in_flight = 10'000;
constexpr milliseconds closing_limit{1000};

}  // namespace

zookeeper_driver::zookeeper_driver(const std::shared_ptr<io_loop>& l,
                                   name_resolver resolver,
                                   session_options options,
                                   session::event_handler events,
                                   std::shared_ptr<tls_identity> tls)
    : loop_(l.get()),
      born_(fork_generation()),
      options_(std::move(options)),
      events_(std::move(events)),
      tls_(std::move(tls)),
      servers_(l,
               std::move(resolver),
               options_.servers,
               tls_ != nullptr && tls_->options().server_name.empty(),
               [this](const server_addresses::answer& got) { resolved(got); }),
      choice_(*l,
              servers_,
              tls_,
              options_,
              [this] {
                  if (working()) {
                      take_turn();
                  }
              }),
      pace_(*l),
      session_{.id = options_.continued.id, .password = options_.continued.password},
      timeout_(options_.timeout),
      wake_(*l) {}

// ---- what the session asks for

void zookeeper_driver::open() {
    servers_.look_up();
    schedule_turn();
}

void zookeeper_driver::submit(request r,
                              const std::shared_ptr<session::watcher>* w,
                              session::completion done) {
    const bool watchable = r.what == request::kind::get || r.what == request::kind::children;
    if (closing_) {
        reject(std::move(done), result_code::closing);
    } else if (over_) {
        reject(std::move(done), result_code::session_expired);
    } else if (!acceptable(r) || (w != nullptr && !watchable)) {
        reject(std::move(done), result_code::bad_arguments);
    } else {
        waiting one{.what = std::move(r),
                    .watched = w != nullptr,
                    .watcher = w != nullptr ? std::weak_ptr(*w) : std::weak_ptr<session::watcher>(),
                    .done = std::move(done)};
        const bool now =
            waiting_.empty() && connected_ && connection_->in_flight() < most_in_flight;
        if (now || (connected_ && one.what.urgent)) {
            send(std::move(one));
        } else {
            waiting_.push_back(std::move(one));
        }
    }
}

void zookeeper_driver::reconnect() {
    if (connection_) {
        connection_->shut();
    }
}

void zookeeper_driver::close(std::function<void()> done) {
    closing_ = true;
    closed_handler_ = std::move(done);
    closing_ends_ = loop_->now() + closing_limit;
    schedule_turn();
}

void zookeeper_driver::abandon() {
    if (born_ != fork_generation()) {
        // All this belongs to the parent process. Closing any of it would end the parent's session.
        leave_undestroyed(shared_from_this());
        return;
    }
    abandoned_ = true;
    wake_.cancel();
    if (connection_) {
        connection_->forget();
    }
    waiting_.clear();
    if (!inside_) {
        let_go();
    }
}

/// Not inside a call of the object that it destroys.
void zookeeper_driver::let_go() {
    connection_.reset();
    events_ = nullptr;
    closed_handler_ = nullptr;
}

// ---- events of the connection

void zookeeper_driver::connected() noexcept {
    connected_ = true;
    pace_.connected();
    session_ = connection_->session();
    timeout_ = connection_->timeout();
    choice_.connected();
    if (tls_) {
        // The handshake may have begun before the files were read.
        tls_->when_refreshed([weak = weak_from_this()] {
            const auto self = weak.lock();
            if (self && self->working() && !self->tls_->warning().empty()) {
                self->tell_trouble(self->tls_->warning());
            }
        });
    }
    notify({.what = session_event::kind::connected,
            .id = session_.id,
            .timeout = timeout_,
            .begun = pace_.begun(),
            .password = session_.password});
}

void zookeeper_driver::disconnected(state why) noexcept {
    if (abandoned_ || closed_) {
        return;
    }
    connected_ = false;
    choice_.disconnected();
    over_ = why == state::expired || why == state::auth_failed;
    if (why == state::auth_failed) {
        notify({.what = session_event::kind::auth_failed,
                .detail = "the servers refused the credentials"});
    } else {
        notify({.what = over_ ? session_event::kind::expired : session_event::kind::suspended});
    }
}

void zookeeper_driver::resolved(const server_addresses::answer& got) {
    const auto self = shared_from_this();
    if (!connected_ && !got.trouble.empty()) {
        tell_trouble(got.trouble);
    }
    if (got.is_first) {
        pace_.end_pause();  // for a server that has not been tried
    }
    if (working() && servers_.empty()) {
        if (!servers_.is_asking()) {
            fail_waiting(result_code::connection_loss);
        }
        if (loop_->now() >= pace_.pause_ends()) {
            pace_.round_failed(timeout_, session_.id != 0);
        }
    }
    if (working()) {
        take_turn();
    }
}

// ---- connections

void zookeeper_driver::take_turn(bool readable, bool writable) {
    const auto self = shared_from_this();
    inside_ = true;
    while (working() && (connection_ || begin_attempt())) {
        if (connected_) {
            send_waiting();
        }
        if (!work(std::exchange(readable, false), std::exchange(writable, false))) {
            continue;
        }
        if (closing_ || !working()) {
            break;
        }
        if (connected_ && !waiting_.empty() && connection_->in_flight() < most_in_flight) {
            continue;  // its watchers waited for this connection
        }
        if (connection_->in_flight() == 0 && choice_.leaves_for_a_better_one()) {
            connection_->shut();
        }
        const auto at = loop_->now() + connection_->patience();
        wake_at(connected_ ? at : std::min(at, pace_.ends()));
        break;
    }
    if (over_ && connection_) {
        connection_->end();
        connection_.reset();
        fail_waiting(result_code::session_expired);
    }
    if (closing_ && !closed_ && !abandoned_) {
        finish_closing();
    }
    if (abandoned_) {
        let_go();
    }
    inside_ = false;
}

bool zookeeper_driver::begin_attempt() {
    if (closing_) {
        return false;
    }
    if (loop_->now() < pace_.pause_ends()) {
        wake_at(pace_.pause_ends());
        return false;
    }
    if (servers_.empty()) {
        servers_.look_up();
        return false;
    }
    if (const auto until = choice_.waits_until()) {
        wake_at(*until);
        return false;
    }
    server_ = choice_.next();
    pace_.begin(timeout_, servers_.size());
    zookeeper_connection::listener& told = *this;
    try {
        connection_ = std::make_unique<zookeeper_connection>(
            *loop_,
            zookeeper_connection::target{server_, tls_, timeout_, session_, options_.identities},
            told,
            [this](bool readable, bool writable) { take_turn(readable, writable); });
    } catch (const std::system_error& e) {
        attempt_failed(e.what());
    }
    return connection_ != nullptr;
}

/// Returns false if the connection, or the attempt, has ended; it is destroyed then.
bool zookeeper_driver::work(bool readable, bool writable) {
    std::string why;
    try {
        if (connection_->work(readable, writable)) {
            if (connected_ || closing_ || loop_->now() < pace_.ends()) {
                return true;
            }
            why = connection_->unanswered_within(pace_.limit());
        } else {
            why = connection_->failure();
        }
    } catch (const std::system_error& e) {
        why = e.what();
    }
    if (over_ || abandoned_) {
        return true;  // take_turn() ends it
    }
    connection_->was_connected() ? connection_ended(why) : attempt_failed(why);
    return false;
}

void zookeeper_driver::connection_ended(const std::string& why) {
    if (connection_->cause() != session_event::cause::unreachable) {
        tell_trouble(server_.described() + ": " + why);
    }
    connection_->end();  // a completion may abandon this object
    connection_.reset();
    pace_.connection_ended(timeout_);
}

void zookeeper_driver::attempt_failed(const std::string& why) {
    tell_trouble(server_.described() + ": " + why + servers_.slow_look_ups("; "));
    connection_.reset();
    fail_waiting(result_code::connection_loss);
    if (pace_.attempt_failed(servers_.size()) && working()) {
        pace_.round_failed(timeout_, session_.id != 0);
        servers_.look_up();  // the servers may have other addresses by now
    }
}

void zookeeper_driver::wake_at(loop::clock::time_point at) {
    // A wake-up that is too early only costs a look. Setting the alarm each time would cost more.
    if (!wake_.running() || at < wake_at_) {
        wake_at_ = at;
        wake_.start(at, [this] { take_turn(); });
    }
}

// ---- requests

void zookeeper_driver::send(waiting w) {
    const auto code = connection_->send(w.what, w.watched, std::move(w.watcher), w.done);
    if (code != result_code::ok) {
        reject(std::move(w.done),
               code == result_code::invalid_state ? result_code::session_expired : code);
    }
    schedule_turn();
}

void zookeeper_driver::send_waiting() {
    while (!waiting_.empty() && connection_->in_flight() < most_in_flight) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        send(std::move(next));
    }
}

void zookeeper_driver::fail_waiting(result_code code) {
    auto failed = std::exchange(waiting_, {});
    for (auto& w : failed) {
        if (!abandoned_) {
            w.done({.code = code});
        }
    }
}

void zookeeper_driver::reject(session::completion done, result_code code) {
    loop_->post([weak = weak_from_this(), done = std::move(done), code] {
        if (const auto self = weak.lock(); self && !self->abandoned_) {
            done({.code = code});
        }
    });
}

void zookeeper_driver::schedule_turn() {
    if (inside_ || turn_posted_) {
        return;  // the turn ends with it
    }
    turn_posted_ = true;
    loop_->post_next([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && !self->abandoned_) {
            self->turn_posted_ = false;
            self->take_turn();
        }
    });
}

void zookeeper_driver::finish_closing() {
    const bool unsent = connected_ && connection_->unsent();
    if (unsent && loop_->now() < closing_ends_) {
        wake_at(closing_ends_);
        return;
    }
    // Behind a part of a request, the server would take the end of the session for the rest of that
    // request.
    auto socket = connected_ && !unsent ? connection_->take_socket() : nullptr;
    auto tunnel = connection_ ? connection_->tunnel() : nullptr;  // until the socket has ended
    closed_ = true;
    if (connection_) {
        connection_->close();
        connection_->end();
        connection_.reset();
    }
    fail_waiting(result_code::closing);
    auto told = [weak = weak_from_this(), done = std::exchange(closed_handler_, nullptr), tunnel] {
        if (const auto self = weak.lock(); self && !self->abandoned_ && done) {
            done();
        }
    };
    if (socket) {
        const auto left = std::chrono::ceil<milliseconds>(closing_ends_ - loop_->now());
        close_session(*loop_, std::move(socket), std::max(left, milliseconds(1)), std::move(told));
    } else {
        loop_->post(std::move(told));
    }
}

void zookeeper_driver::notify(const session_event& e) {
    if (const auto events = events_; events && !abandoned_ && !closed_) {
        events(e);  // a copy: it may destroy the session
    }
}

void zookeeper_driver::tell_trouble(std::string detail) {
    notify({.why = connection_ ? connection_->cause() : session_event::cause::unreachable,
            .detail = std::move(detail)});
}

}  // namespace latchkey::inline v0
