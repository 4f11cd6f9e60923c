#include "ensemble/cluster.hpp"
#include "ensemble/ensemble_session.hpp"
#include "session/connect_schedule.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::model {

using std::chrono::milliseconds;

void ensemble_session::next_attempt_after(loop::clock::duration pause) {
    phase_ = phase::waiting;
    attempt_.start(pause, [this] { attempt(); });
}

int ensemble_session::next_server() {
    if (wanted_server_ >= 0) {
        return std::exchange(wanted_server_, -1);
    }
    return servers_[position_++ % servers_.size()];
}

// Servers that do not answer must not use up the session: the limit is short at first, then longer.
loop::clock::duration ensemble_session::attempt_limit() const {
    const auto count = static_cast<int>(servers_.size());
    const auto longest = std::max<loop::clock::duration>(timeout_ / (2 * count), milliseconds(200));
    const std::size_t round = std::min<std::size_t>(next_ / servers_.size(), 10);
    return std::min<loop::clock::duration>(milliseconds(400) * (1 << round), longest);
}

void ensemble_session::attempt() {
    phase_ = phase::connecting;
    server_ = next_server();
    attempt_begun_ = process_->loop->now();
    if (process_->refuses(server_) || server_ < 0) {
        attempt_.start(all_->client_latency() * 2,
                       [this] { attempt_failed("connection refused"); });
        return;
    }
    connection_ = all_->connect(*process_, server_);
    connection_->client = this;
    hello h{id_, 0, options_.timeout, options_.identities};
    connection_->to_server.send(
        connection_,
        [end = connection_.get(), to = &all_->at(server_), h = std::move(h)] {
            to->accept(end->shared_from_this(), h);
        },
        all_->client_latency());
    attempt_.start(attempt_limit(), [this] { attempt_failed("no answer"); });
}

void ensemble_session::attempt_failed(const char* why) {
    drop_connection(false);
    ++next_;
    const bool all_tried = next_ % servers_.size() == 0;
    next_attempt_after(all_tried ? loop::clock::duration(timeout_) / 60 : loop::clock::duration{});
    std::deque<outstanding> lost = take_all();
    session_event e;
    e.detail = why;
    if (tell(e)) {
        fail(std::move(lost), result_code::connection_loss);
    }
}

void ensemble_session::welcomed(std::int64_t id, milliseconds timeout) {
    attempt_.cancel();
    next_ = 0;
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
    session_event e;
    e.what = session_event::kind::connected;
    e.id = id;
    e.timeout = timeout;
    e.begun = attempt_begun_;
    if (!tell(e)) {
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
    session_event e;
    e.what = session_event::kind::suspended;
    e.detail = why;
    if (tell(e)) {
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
    wanted_server_ = server;
    break_connection();
}

}  // namespace latchkey::model
