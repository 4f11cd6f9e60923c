#include "zookeeper_driver.hpp"

#include "fork_guard.hpp"
#include "never_destroyed.hpp"
#include "request_check.hpp"
#include "session_farewell.hpp"

#include <algorithm>
#include <utility>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// More than that in flight waits on this side.
constexpr std::size_t most_in_flight = 10'000;
constexpr milliseconds closing_limit{1000};

bool ended(state s) noexcept {
    return s == state::expired || s == state::auth_failed;
}

}  // namespace

zookeeper_driver::zookeeper_driver(const std::shared_ptr<asio_loop>& l,
                                   name_resolver resolver,
                                   session_options options,
                                   session::event_handler events)
    : loop_(l.get()),
      weak_loop_(l),
      born_(fork_generation()),
      resolver_(std::move(resolver)),
      options_(std::move(options)),
      events_(std::move(events)),
      socket_(l->io(), [this](bool readable, bool writable) { pump(readable, writable); }),
      wake_(*l) {}

// ---- what the session asks for

void zookeeper_driver::open() {
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->working()) {
            self->take_turn([&] { self->resolve(); });
        }
    });
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
    } else if (handle_ && waiting_.empty() && in_flight_.size() < most_in_flight) {
        send(r,
             w != nullptr,
             w != nullptr ? std::weak_ptr(*w) : std::weak_ptr<session::watcher>(),
             std::move(done));
    } else {
        waiting_.push_back({std::move(r),
                            w != nullptr,
                            w != nullptr ? std::weak_ptr(*w) : std::weak_ptr<session::watcher>(),
                            std::move(done)});
    }
}

void zookeeper_driver::reconnect() {
    // The end is found as if the server had caused it, after what has arrived was read.
    socket_.shut();
}

void zookeeper_driver::close(std::function<void()> done) {
    closing_ = true;
    closed_handler_ = std::move(done);
    closing_ends_ = loop_->now() + closing_limit;
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && !self->abandoned_) {
            self->pump(false, false);
        }
    });
}

void zookeeper_driver::abandon() {
    if (born_ != fork_generation()) {
        // All this belongs to the parent process; closing any of it would end the parent's session.
        leave_undestroyed(shared_from_this());
        return;
    }
    abandoned_ = true;
    wake_.cancel();
    if (!inside_) {
        let_go();
    }
    while (!in_flight_.empty()) {
        static_cast<void>(in_flight_.take(in_flight_.oldest()));
    }
    waiting_.clear();
}

/// Not from inside what it destroys.
void zookeeper_driver::let_go() {
    handle_.reset();
    socket_.drop();
    events_ = nullptr;
    closed_handler_ = nullptr;
}

// ---- what the C client tells

void zookeeper_driver::on_state(state now) noexcept {
    if (abandoned_ || closed_) {
        return;
    }
    if (now == state::connected) {
        connected_ = ever_connected_ = true;
        attempting_ = false;
        answered_at_ = loop_->now();
        attempts_ = failed_rounds_ = 0;
        tell({.what = session_event::kind::connected,
              .id = handle_->session_id(),
              .timeout = handle_->timeout(),
              .detail = {}});
        return;
    }
    connected_ = attempting_ = false;
    left_server_ = server_;
    if (ended(now)) {
        over_ = true;
        session_event e;
        e.what =
            now == state::expired ? session_event::kind::expired : session_event::kind::auth_failed;
        e.detail = now == state::expired ? "" : "the servers refused the credentials";
        tell(e);
    } else {
        tell({.what = session_event::kind::suspended, .id = 0, .timeout = {}, .detail = {}});
    }
}

void zookeeper_driver::on_watch(watch_event what, const char* path) noexcept {
    only_watches_ = true;
    for (const auto& w : watches_.take(what, path)) {
        if (const auto watcher = w.lock(); watcher && !abandoned_) {
            (*watcher)(what);
        }
    }
}

void zookeeper_driver::on_reply(std::uint64_t id, reply answer) noexcept {
    auto e = in_flight_.take(id);
    if (!e || abandoned_) {
        return;
    }
    if (answer.ok()) {
        if (e->watched) {
            watches_.add(std::move(e->path), e->kind, std::move(e->watcher));
        }
    } else if (closed_) {
        answer = {};
        answer.code = result_code::closing;
    } else if (answer.code == result_code::closing) {
        answer.code = result_code::connection_loss;
    }
    e->done(std::move(answer));
}

// ---- requests

void zookeeper_driver::send(const request& r,
                            bool watched,
                            std::weak_ptr<session::watcher> w,
                            session::completion done) {
    const auto kind =
        r.what == request::kind::get ? watch_registry::kind::data : watch_registry::kind::children;
    const auto id = in_flight_.add({.done = std::move(done),
                                    .watched = watched,
                                    .kind = kind,
                                    .watcher = std::move(w),
                                    .path = watched ? r.path : std::string()});
    const auto code = handle_->send(id, r, watched);
    if (code != result_code::ok) {
        reject(in_flight_.take(id)->done,
               code == result_code::invalid_state ? result_code::session_expired : code);
    }
    schedule_flush();
}

void zookeeper_driver::send_waiting() {
    while (!waiting_.empty() && in_flight_.size() < most_in_flight) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        send(next.what, next.watched, std::move(next.watcher), std::move(next.done));
    }
}

void zookeeper_driver::fail_waiting(result_code code) {
    auto failed = std::exchange(waiting_, {});
    for (auto& w : failed) {
        if (!abandoned_) {
            reply r;
            r.code = code;
            w.done(std::move(r));
        }
    }
}

void zookeeper_driver::reject(session::completion done, result_code code) {
    loop_->post([weak = weak_from_this(), done = std::move(done), code] {
        if (const auto self = weak.lock(); self && !self->abandoned_) {
            reply r;
            r.code = code;
            done(std::move(r));
        }
    });
}

void zookeeper_driver::schedule_flush() {
    if (inside_ || flush_posted_) {
        return;  // pump() ends with it
    }
    flush_posted_ = true;
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->flush_posted_ = false;
            self->pump(false, false);
        }
    });
}

// ---- the end

void zookeeper_driver::finish_closing(bool unsent) {
    const bool healthy = handle_ && handle_->current() == state::connected;
    if (healthy && unsent && loop_->now() < closing_ends_) {
        wake_at(closing_ends_);
        return;
    }
    closed_ = true;
    auto connection = healthy ? socket_.take() : std::nullopt;
    handle_.reset();
    socket_.drop();
    fail_waiting(result_code::closing);
    auto told = [weak = weak_from_this(), done = std::exchange(closed_handler_, nullptr)] {
        if (const auto self = weak.lock(); self && !self->abandoned_ && done) {
            done();
        }
    };
    if (connection) {
        const auto left = std::chrono::ceil<milliseconds>(closing_ends_ - loop_->now());
        say_farewell(std::move(*connection), std::max(left, milliseconds(1)), std::move(told));
    } else {
        loop_->post(std::move(told));
    }
}

// ---- events

void zookeeper_driver::tell(const session_event& e) {
    if (!abandoned_ && !closed_ && events_) {
        events_(e);
    }
}

void zookeeper_driver::tell_trouble(std::string detail) {
    session_event e;
    e.detail = std::move(detail);
    tell(e);
}

}  // namespace latchkey
