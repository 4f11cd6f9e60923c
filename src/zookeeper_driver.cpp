#include "zookeeper_driver.hpp"

#include "connect_schedule.hpp"
#include "request_check.hpp"
#include "session_farewell.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace latchkey {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// More than that in flight waits on this side.
constexpr std::size_t most_in_flight = 10'000;
/// Frames read before others on the loop get their turn.
constexpr int most_frames = 256;
constexpr milliseconds closing_limit{1000};

bool ended(state s) noexcept {
    return s == state::expired || s == state::auth_failed;
}

std::string cause_of(int error) {
    // What the C client says when the other side has hung up.
    return error == EHOSTDOWN ? "the server closed the connection"
                              : std::generic_category().message(error);
}

}  // namespace

zookeeper_driver::zookeeper_driver(const std::shared_ptr<asio_loop>& l,
                                   session_options options,
                                   session::event_handler events)
    : loop_(l.get()),
      weak_loop_(l),
      options_(std::move(options)),
      events_(std::move(events)),
      socket_(l->io(), [this](bool readable, bool writable) { pump(readable, writable); }),
      wake_(*l) {}

// ---- what the session asks for

void zookeeper_driver::open() {
    loop_->post([weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && self->working()) {
            self->resolve();
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
        send(std::move(r),
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
    abandoned_ = true;
    wake_.cancel();
    if (!inside_) {
        handle_.reset();
        socket_.drop();
        events_ = nullptr;
        closed_handler_ = nullptr;
    }
    while (!in_flight_.empty()) {
        static_cast<void>(in_flight_.take(in_flight_.oldest()));
    }
    waiting_.clear();
}

// ---- what the C client tells

void zookeeper_driver::on_state(state now) noexcept {
    if (abandoned_ || closed_) {
        return;
    }
    if (now == state::connected) {
        connected_ = ever_connected_ = true;
        attempting_ = false;
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
        tell(std::move(e));
    } else {
        tell({.what = session_event::kind::suspended, .id = 0, .timeout = {}, .detail = {}});
    }
}

void zookeeper_driver::on_watch(watch_event what, const char* path) noexcept {
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

// ---- servers

void zookeeper_driver::resolve() {
    if (auto numeric = numeric_addresses(options_.servers)) {
        start(std::move(*numeric));
        return;
    }
    resolve_names(options_.servers,
                  [weak = weak_from_this(), weak_loop = weak_loop_](name_resolution result) {
                      if (const auto l = weak_loop.lock()) {
                          l->post([weak, result = std::move(result)] {
                              if (const auto self = weak.lock(); self && self->working()) {
                                  self->resolved(result);
                              }
                          });
                      }
                  });
}

void zookeeper_driver::resolved(const name_resolution& result) {
    for (const auto& failure : result.failures) {
        tell_trouble(failure);
    }
    if (result.addresses.empty()) {
        fail_waiting(result_code::connection_loss);
        retry_later();
    } else {
        start(result.addresses);
    }
}

void zookeeper_driver::start(std::vector<server_address> addresses) {
    if (!working()) {
        return;
    }
    servers_ = server_list(std::move(addresses), [this] { return loop_->random(); });
    attempts_ = 0;
    zookeeper_handle::observer& told = *this;
    try {
        handle_ = std::make_unique<zookeeper_handle>(
            servers_.connect_string(), options_.timeout, options_.identities, told);
    } catch (const std::system_error& e) {
        tell_trouble(e.what());
        retry_later();
        return;
    }
    pump(false, false);
}

void zookeeper_driver::retry_later() {
    if (!working()) {
        return;
    }
    ++failed_rounds_;
    wake_.start(connect_pause(failed_rounds_, loop_->random()), [this] { resolve(); });
}

// ---- the C client's turn

void zookeeper_driver::pump(bool readable, bool writable) {
    const auto self = shared_from_this();
    inside_ = true;
    if (handle_ && (readable || writable)) {
        read_frames(writable);
    }
    settle();
    if (abandoned_ || over_) {
        handle_.reset();
        socket_.drop();
        if (over_) {
            fail_waiting(result_code::session_expired);
        }
    }
    inside_ = false;
    if (abandoned_) {
        events_ = nullptr;
        closed_handler_ = nullptr;
    } else if (closing_ && !closed_ && !connected_) {
        finish_closing(false);
    }
}

void zookeeper_driver::read_frames(bool writable) {
    for (int i = 0; i < most_frames && !abandoned_ && handle_->process(writable && i == 0); ++i) {
    }
}

void zookeeper_driver::settle() {
    while (handle_ && working()) {
        if (handle_->current() == state::disconnected && !ready_to_connect()) {
            return;
        }
        send_waiting();
        const bool new_attempt = !socket_.watching();
        const auto wanted = handle_->next();
        if (!working()) {
            return;
        }
        if (wanted.failed) {
            attempting_ = attempting_ || new_attempt;
            continue;
        }
        if (wanted.socket < 0) {
            continue;  // the C client's own pause after its list; ours is in ready_to_connect()
        }
        if (new_attempt && !began_attempt(wanted.socket)) {
            continue;
        }
        if (closing_) {
            finish_closing(wanted.write);
            if (closed_) {
                return;
            }
        }
        socket_.await(wanted.write);
        const auto at = loop_->now() + std::max(wanted.patience, milliseconds(1));
        wake_at(attempting_ ? std::min(at, attempt_ends_) : at);
        return;
    }
}

bool zookeeper_driver::ready_to_connect() {
    socket_.drop();
    if (connected_) {
        // A send failed. The C client has closed the socket without telling, and would match the
        // answers of the next connection with the requests of this one.
        stale_ = true;
        on_state(state::connecting);
    }
    if (attempting_) {
        attempt_failed();
    }
    if (!handle_ || !working() || closing_) {
        return false;
    }
    if (loop_->now() < pause_until_) {
        wake_at(pause_until_);
        return false;
    }
    return true;
}

bool zookeeper_driver::began_attempt(int socket) {
    try {
        socket_.watch(socket);
    } catch (const std::system_error& e) {
        tell_trouble(e.what());
        handle_->fail();
        attempting_ = false;
        pause_until_ = loop_->now() + connect_pause(1, loop_->random());
        return false;
    }
    server_ = handle_->server();
    const bool again = server_ == left_server_ && servers_.size() > 1;
    if (std::exchange(stale_, false) || again) {
        // An attempt that fails for certain makes it give up the old requests, or leads on to
        // another server than the one that we have just left, which may be named twice.
        left_server_ = again ? "" : left_server_;
        handle_->fail();
        return false;
    }
    left_server_.clear();
    attempting_ = true;
    attempt_timed_out_ = false;
    attempt_limit_ = connect_limit(handle_->timeout(), servers_.size(), failed_rounds_);
    attempt_ends_ = loop_->now() + attempt_limit_;
    return true;
}

void zookeeper_driver::attempt_failed() {
    attempting_ = false;
    tell_trouble(servers_.described(server_) + ": " +
                 (attempt_timed_out_
                      ? "no answer within " + std::to_string(attempt_limit_.count()) + " ms"
                      : cause_of(handle_->last_failure())));
    if (++attempts_ < servers_.round() || !working()) {
        return;
    }
    attempts_ = 0;
    if (ever_connected_) {
        ++failed_rounds_;
        pause_until_ =
            loop_->now() + reconnect_pause(handle_->timeout(), failed_rounds_, loop_->random());
    } else {
        // There is no session to keep: look the names up again.
        handle_.reset();
        retry_later();
    }
}

void zookeeper_driver::wake_at(loop::clock::time_point at) {
    // Too early only costs a look around; setting the alarm each time would cost more.
    if (!wake_.running() || at < wake_at_) {
        wake_at_ = at;
        wake_.start(at, [this] { woken(); });
    }
}

void zookeeper_driver::woken() {
    const bool late = attempting_ && loop_->now() >= attempt_ends_;
    if (late) {
        attempt_timed_out_ = true;
        socket_.shut();
    }
    pump(late, late);
}

// ---- requests

void zookeeper_driver::send(request r,
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
        send(std::move(next.what), next.watched, std::move(next.watcher), std::move(next.done));
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

void zookeeper_driver::tell(session_event e) {
    if (!abandoned_ && !closed_ && events_) {
        events_(e);
    }
}

void zookeeper_driver::tell_trouble(std::string detail) {
    session_event e;
    e.detail = std::move(detail);
    tell(std::move(e));
}

}  // namespace latchkey
