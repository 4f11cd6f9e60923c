#include "ensemble/ensemble_session.hpp"

#include "ensemble/cluster.hpp"
#include "session/request_check.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace latchkey::model {
namespace {

// The hosts of an in-process ensemble are server-0, server-1, and so on. Other names lead nowhere.
std::vector<int> servers_of(const session_options& options, int count) {
    constexpr std::string_view prefix = "server-";
    std::vector<int> servers;
    for (const session_options::endpoint& e : options.servers) {
        int index = -1;
        if (e.host.starts_with(prefix)) {
            const char* const end = e.host.data() + e.host.size();
            const auto parsed = std::from_chars(e.host.data() + prefix.size(), end, index);
            index = parsed.ptr == end && index >= 0 && index < count ? index : -1;
        }
        servers.push_back(index);
    }
    if (servers.empty()) {
        for (int i = 0; i < count; ++i) {
            servers.push_back(i);
        }
    }
    return servers;
}

}  // namespace

ensemble_session::ensemble_session(std::shared_ptr<cluster> all,
                                   std::shared_ptr<client_process> process,
                                   const session_options& options,
                                   event_handler events)
    : all_(std::move(all)),
      process_(std::move(process)),
      options_(options),
      events_(std::move(events)),
      timeout_(options.timeout),
      servers_(servers_of(options, all_->size())),
      attempt_(*process_->loop),
      ping_(*process_->loop),
      silence_(*process_->loop) {
    for (std::size_t i = servers_.size(); i > 1; --i) {
        std::swap(servers_[i - 1], servers_[process_->loop->random() % i]);
    }
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
    post([done = std::move(done), code] {
        reply r;
        r.code = code;
        done(std::move(r));
    });
}

void ensemble_session::send(const std::shared_ptr<packet>& p) {
    last_sent_ = process_->loop->now();
    connection_->to_server.send(
        connection_,
        [end = connection_.get(), to = &all_->at(server_), p] {
            to->receive(end->shared_from_this(), p);
        },
        all_->client_latency());
}

void ensemble_session::answered(reply r, std::int64_t /*zxid*/) {
    if (phase_ != phase::connected) {
        return;
    }
    last_heard_ = process_->loop->now();
    outstanding o = std::move(sent_.front());
    sent_.pop_front();
    if (r.ok() && o.what->watch && !o.watch.expired()) {
        watches_.add(o.what->body.path,
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
            (*w)(e);
        }
    }
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
        reply r;
        r.code = code;
        o.done(std::move(r));
    }
}

bool ensemble_session::tell(session_event e) {
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
    session_event e;
    e.what = what;
    e.detail = why;
    if (tell(e)) {
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
