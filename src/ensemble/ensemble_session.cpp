#include "ensemble/ensemble_session.hpp"

#include "ensemble/cluster.hpp"
#include "session/connect_schedule.hpp"
#include "session/request_check.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

ensemble_session::ensemble_session(std::shared_ptr<cluster> all,
                                   std::shared_ptr<client_process> process,
                                   const session_options& options,
                                   event_handler events)
    : all_(std::move(all)),
      process_(std::move(process)),
      options_(options),
      events_(std::move(events)),
      timeout_(options.timeout),
      servers_(options, all_->size(), *process_->loop),
      attempt_(*process_->loop),
      ping_(*process_->loop),
      silence_(*process_->loop) {
    process_->sessions.insert(this);
    next_attempt_after({});
}

ensemble_session::~ensemble_session() {
    *alive_ = false;
    process_->sessions.erase(this);
    drop_connection(false);
}

void ensemble_session::post(std::function<void()> f) {
    process_->loop->post([alive = alive_, f = std::move(f)] {
        if (*alive) {
            f();
        }
    });
}

// Requests.

void ensemble_session::submit(request r, completion done) {
    submit(std::move(r), nullptr, std::move(done));
}

void ensemble_session::submit(request r, const std::shared_ptr<watcher>& w, completion done) {
    if (phase_ == phase::closing || phase_ == phase::over) {
        return complete_later(
            std::move(done),
            phase_ == phase::closing ? result_code::closing : result_code::session_expired);
    }
    const bool watchable = r.what == request::kind::get || r.what == request::kind::children;
    if (!acceptable(r) || (w != nullptr && !watchable)) {
        return complete_later(std::move(done), result_code::bad_arguments);
    }
    outstanding o{std::make_shared<packet>(), w, std::move(done)};
    o.what->what = packet::kind::request;
    o.what->body = std::move(r);
    o.what->watch = w != nullptr;
    o.what->asked = all_->loop().now();
    enqueue(std::move(o));
}

void ensemble_session::enqueue(outstanding o) {
    if (phase_ == phase::connected && (o.what->body.urgent || queued_.empty())) {
        send(o.what);
        sent_.push_back(std::move(o));
    } else {
        queued_.push_back(std::move(o));
    }
}

void ensemble_session::complete_later(completion done, result_code code) {
    post([done = std::move(done), code] { done({.code = code}); });
}

void ensemble_session::send(const std::shared_ptr<packet>& p) {
    last_sent_ = process_->loop->now();
    connection_->send_server([end = connection_.get(), to = &all_->at(server_), p] {
        to->clients().receive(end->shared_from_this(), p);
    });
}

void ensemble_session::answered(reply r, std::int64_t /*zxid*/) {
    if (phase_ != phase::connected) {
        return;
    }
    last_heard_ = process_->loop->now();
    outstanding o = std::move(sent_.front());
    sent_.pop_front();
    if (r.ok() && o.what->watch && !o.watch.expired()) {
        watches_.add(watch_registry::key_of(o.what->body.path),
                     o.what->body.what == request::kind::get ? watch_registry::kind::data
                                                             : watch_registry::kind::children,
                     o.watch);
    }
    o.done(std::move(r));
}

void ensemble_session::heard(std::int64_t /*zxid*/) {
    last_heard_ = process_->loop->now();
}

void ensemble_session::notified(watch_event e, const std::string& path) {
    last_heard_ = process_->loop->now();
    const std::shared_ptr<bool> alive = alive_;
    for (const std::weak_ptr<watcher>& weak : watches_.take(e, path)) {
        const std::shared_ptr<watcher> w = weak.lock();
        if (w != nullptr && *alive) {
            w->on_event(e);
        }
    }
}

// Connections.

void ensemble_session::next_attempt_after(loop::clock::duration pause) {
    phase_ = phase::waiting;
    attempt_.start(pause, [this] { attempt(); });
}

void ensemble_session::attempt() {
    phase_ = phase::connecting;
    server_ = servers_.next();
    attempt_begun_ = process_->loop->now();
    if (process_->refuses(server_) || server_ < 0) {
        attempt_.start(all_->how().one_way * 2, [this] { attempt_failed("connection refused"); });
        return;
    }
    connection_ = all_->connect(*process_, server_);
    connection_->client = this;
    hello h{id_, 0, options_.timeout, options_.identities};
    connection_->send_server([end = connection_.get(), to = &all_->at(server_), h = std::move(h)] {
        to->clients().accept(end->shared_from_this(), h);
    });
    attempt_.start(servers_.limit(timeout_), [this] { attempt_failed("no answer"); });
}

void ensemble_session::attempt_failed(const char* why) {
    drop_connection(false);
    const bool all_tried = servers_.failed();
    next_attempt_after(all_tried ? loop::clock::duration(timeout_) / 60 : loop::clock::duration{});
    std::deque<outstanding> lost = take_all();
    if (tell({.detail = why})) {
        fail(std::move(lost), result_code::connection_loss);
    }
}

void ensemble_session::welcomed(std::int64_t id, std::chrono::milliseconds timeout) {
    attempt_.cancel();
    servers_.succeeded();
    // What was kept for one session is not sent in another one.
    std::deque<outstanding> stale;
    if (id_ != 0 && id_ != id) {
        stale = std::exchange(queued_, {});
    }
    id_ = id;
    timeout_ = timeout;
    phase_ = phase::connected;
    connected_at_ = last_heard_ = last_sent_ = process_->loop->now();
    all_->opened(id, process_);
    keep_alive();
    watch_for_silence();
    if (!tell({.what = session_event::kind::connected,
               .id = id,
               .timeout = timeout,
               .begun = attempt_begun_})) {
        return;
    }
    const std::shared_ptr<bool> alive = alive_;
    fail(std::move(stale), result_code::session_expired);
    if (!*alive || phase_ != phase::connected) {
        return;
    }
    for (outstanding& o : std::exchange(queued_, {})) {
        enqueue(std::move(o));
    }
}

void ensemble_session::keep_alive() {
    const loop::clock::duration idle = process_->loop->now() - last_sent_;
    const loop::clock::duration period = loop::clock::duration(timeout_) / 3;
    if (idle >= period && sent_.empty()) {
        send(std::make_shared<packet>());
    }
    // No ping while an answer is due, because its absence will show the same. Look again soon.
    const loop::clock::duration rest = period - (process_->loop->now() - last_sent_);
    ping_.start(std::max(rest, period / 8), [this] { keep_alive(); });
}

void ensemble_session::watch_for_silence() {
    const loop::clock::duration limit = loop::clock::duration(timeout_) * 2 / 3;
    silence_.start(last_heard_ + limit, [this, limit] {
        if (process_->loop->now() - last_heard_ >= limit) {
            lose_connection(result_code::operation_timeout, "the server is silent", false);
        } else {
            watch_for_silence();
        }
    });
}

void ensemble_session::dropped(const char* why, result_code code) {
    switch (phase_) {
        case phase::connecting:
            return attempt_failed(why);
        case phase::connected:
            return lose_connection(code, why, true);
        case phase::closing:
            return closed();
        default:
            return;
    }
}

void ensemble_session::lose_connection(result_code code, const char* why, bool abruptly) {
    drop_connection(abruptly);
    // As with real servers, connections that die young are followed by a growing pause.
    const bool young = process_->loop->now() - connected_at_ < timeout_ / 4;
    died_young_ = young ? died_young_ + 1 : 0;
    next_attempt_after(died_young_ > 1 ? loop::clock::duration(reconnect_pause(
                                             timeout_, died_young_, process_->loop->random()))
                                       : loop::clock::duration{});
    std::deque<outstanding> lost = take_all();
    if (tell({.what = session_event::kind::suspended, .detail = why})) {
        fail(std::move(lost), code);
    }
}

void ensemble_session::drop_connection(bool abruptly) {
    attempt_.cancel();
    ping_.cancel();
    silence_.cancel();
    watches_ = {};
    if (const connection_ptr c = std::exchange(connection_, nullptr)) {
        all_->hang_up(c, server_, abruptly);
    }
}

void ensemble_session::reconnect() {
    break_connection();
}

void ensemble_session::break_connection() {
    if (phase_ != phase::connected && phase_ != phase::connecting) {
        return;
    }
    // The connection goes now. What follows from that is reported by the loop.
    if (connection_ != nullptr) {
        connection_->client = nullptr;
    }
    post([this, broken = connection_] {
        if (connection_ != broken) {
            return;
        }
        if (phase_ == phase::connected) {
            lose_connection(result_code::connection_loss, "the connection was given up", true);
        } else if (phase_ == phase::connecting) {
            attempt_failed("the attempt was given up");
        }
    });
}

void ensemble_session::go_to(int server) {
    servers_.prefer(server);
    break_connection();
}

// The end.

std::deque<ensemble_session::outstanding> ensemble_session::take_all() {
    std::deque<outstanding> all = std::exchange(sent_, {});
    std::move(queued_.begin(), queued_.end(), std::back_inserter(all));
    queued_.clear();
    return all;
}

void ensemble_session::fail(std::deque<outstanding> lost, result_code code) {
    const std::shared_ptr<bool> alive = alive_;
    for (outstanding& o : lost) {
        if (!*alive) {
            return;
        }
        o.done({.code = code});
    }
}

bool ensemble_session::tell(const session_event& e) {
    const std::shared_ptr<bool> alive = alive_;
    // The handler may destroy the session, and so itself.
    const event_handler handler = events_;
    handler(e);
    return *alive;
}

void ensemble_session::end(session_event::kind what, result_code code, const char* why) {
    drop_connection(false);
    if (phase_ == phase::closing) {
        return closed();
    }
    phase_ = phase::over;
    std::deque<outstanding> lost = take_all();
    if (tell({.what = what, .detail = why})) {
        fail(std::move(lost), code);
    }
}

void ensemble_session::session_unknown() {
    end(session_event::kind::expired, result_code::session_expired, "");
}

void ensemble_session::credentials_refused() {
    end(session_event::kind::auth_failed,
        result_code::auth_failed,
        "the servers refused the credentials");
}

void ensemble_session::close(std::function<void()> done) {
    if (phase_ == phase::closing) {
        return;
    }
    const bool reachable = phase_ == phase::connected;
    phase_ = phase::closing;
    closed_ = std::move(done);
    attempt_.cancel();
    ping_.cancel();
    if (reachable) {
        auto p = std::make_shared<packet>();
        p->what = packet::kind::close;
        send(p);
        silence_.start(std::chrono::seconds(1), [this] { closed(); });
    } else if (connection_ != nullptr) {
        connection_->client = nullptr;
    }
    post([this, reachable] {
        if (reachable) {
            fail(take_all(), result_code::closing);
        } else {
            closed();
        }
    });
}

void ensemble_session::session_closed() {
    if (phase_ == phase::closing) {
        closed();
    }
}

void ensemble_session::closed() {
    drop_connection(false);
    const std::shared_ptr<bool> alive = alive_;
    fail(take_all(), result_code::closing);
    if (!*alive) {
        return;
    }
    if (const std::function<void()> done = std::exchange(closed_, nullptr)) {
        done();
    }
}

}  // namespace latchkey::model
