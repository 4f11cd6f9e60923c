#include "zookeeper/zookeeper_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// The number of frames that are read before other tasks of the loop get their turn.
constexpr int most_frames = 256;

}  // namespace

zookeeper_connection::zookeeper_connection(io_loop& l,
                                           const target& to,
                                           listener& told,
                                           socket_watch::handler ready)
    : listener_(&told),
      tunnel_(
          to.tls == nullptr
              ? nullptr
              : tls_tunnel::open(l, {to.tls, to.server.address, to.server.port, to.server.name})),
      socket_(l, std::move(ready)) {
    zookeeper_handle::observer& observed_by = *this;
    const zookeeper_handle::opening how{
        .server = tunnel_ ? tunnel_->endpoint() : to.server.endpoint(),
        .timeout = to.timeout,
        .session = to.session,
        .identities = to.identities};
    handle_ = std::make_unique<zookeeper_handle>(how, observed_by);
}

zookeeper_connection::~zookeeper_connection() {
    forget();
}

bool zookeeper_connection::work(bool readable, bool writable) {
    if (readable || writable) {
        bool more = true;
        for (int i = 0; i < most_frames && more && !over_ && !forgotten_; ++i) {
            more = read_frame(writable && i == 0);
        }
    }
    if (forgotten_) {
        return true;
    }
    // The C client does not report a failed attempt, or a send that failed: it has closed its
    // socket.
    const bool dead = socket_.watching() && handle_->current() == state::disconnected;
    const auto wanted = over_ || dead ? zookeeper_handle::interest{} : handle_->next();
    if (wanted.failed || wanted.socket < 0) {
        on_state(state::disconnected);
        return false;
    }
    if (forgotten_) {
        return true;
    }
    if (!socket_.watching()) {
        if (tunnel_) {
            tunnel_->take_over(wanted.socket);
        }
        socket_.watch(wanted.socket);
    }
    socket_.await(wanted.write);
    unsent_ = wanted.write;
    patience_ = std::max(wanted.patience, milliseconds(1));
    return true;
}

/// Returns false if there is no other complete frame, or the connection is over. For a length that
/// no server sends, the C client would fail to allocate memory and never continue to read.
bool zookeeper_connection::read_frame(bool write) {
    using arrived = socket_watch::arrived;
    if (!between_frames_) {
        ahead_ = {};
    } else if (ahead_.frames == 0) {
        ahead_ = socket_.look();
    }
    if (ahead_.what == arrived::garbage) {
        on_state(state::disconnected);
        return false;
    }
    const bool read = ahead_.what != arrived::nothing;
    const bool whole = (read || write) && handle_->process(read, write) && read;
    between_frames_ = read ? whole : between_frames_;
    const bool was_last = whole && ahead_.frames == 1 && ahead_.all;
    ahead_.frames = whole ? std::max(ahead_.frames - 1, 0) : 0;
    return whole && !was_last;
}

std::string zookeeper_connection::failure() const {
    if (tunnel_ && !tunnel_->failure().empty()) {
        return tunnel_->failure();
    }
    const int error = handle_->last_failure();
    // The C client's code for a connection that the server has closed.
    return error == EHOSTDOWN ? "the server closed the connection"
                              : std::generic_category().message(error);
}

std::string zookeeper_connection::unanswered_within(milliseconds limit) const {
    const std::string what = tunnel_ ? tunnel_->unanswered() : "no answer";
    return what + " within " + std::to_string(limit.count()) + " ms";
}

result_code zookeeper_connection::send(const request& r,
                                       bool watched,
                                       std::weak_ptr<session::watcher> w,
                                       session::completion& done) {
    const auto kind =
        r.what == request::kind::get ? watch_registry::kind::data : watch_registry::kind::children;
    const auto id = in_flight_.add({.done = std::move(done),
                                    .watched = watched,
                                    .kind = kind,
                                    .watcher = std::move(w),
                                    .path = watched ? watch_registry::key_of(r.path) : 0});
    const auto code = handle_->send(id, r, watched);
    if (code != result_code::ok) {
        done = std::move(in_flight_.take(id)->done);
    }
    return code;
}

void zookeeper_connection::forget() {
    forgotten_ = true;
    while (!in_flight_.empty()) {
        static_cast<void>(in_flight_.take(in_flight_.oldest()));
    }
}

void zookeeper_connection::on_state(state now) noexcept {
    if (forgotten_ || over_) {
        return;
    }
    if (now == state::connected) {
        connected_ = true;
        listener_->connected();
        return;
    }
    over_ = true;
    if (connected_ || now == state::expired || now == state::auth_failed) {
        listener_->disconnected(now);
    }
}

void zookeeper_connection::on_watch(watch_event what, const char* path) noexcept {
    for (const auto& w : watches_.take(what, path)) {
        if (const auto watcher = w.lock(); watcher && !forgotten_) {
            watcher->on_event(what);
        }
    }
}

void zookeeper_connection::on_reply(std::uint64_t id, reply answer) noexcept {
    auto e = in_flight_.take(id);
    if (!e || forgotten_) {
        return;
    }
    if (answer.ok()) {
        if (e->watched) {
            watches_.add(e->path, e->kind, std::move(e->watcher));
        }
    } else if (closing_) {
        answer = {};
        answer.code = result_code::closing;
    } else if (answer.code == result_code::closing) {
        answer.code = result_code::connection_loss;
    }
    e->done(std::move(answer));
}

}  // namespace latchkey::inline v0
