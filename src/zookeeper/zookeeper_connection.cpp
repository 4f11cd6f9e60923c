#include "zookeeper/zookeeper_connection.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

namespace latchkey::inline v0 {
namespace {

using std::chrono::milliseconds;
using state = zookeeper_handle::state;

/// How many pieces are read before other tasks of the loop get their turn.
constexpr int most_pieces = 8;

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
      continues_(to.session.id != 0),
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
    if (gate_ && readable) {
        read_frames();
    } else if (!gate_ && (readable || writable) && socket_.is_ready()) {
        // The C client takes it for connected. What the server sends is for the gate.
        handle_->process(false, true);
    }
    if (forgotten_) {
        return true;
    }
    if (!drive()) {
        on_state(state::disconnected);
        return false;
    }
    if (!forgotten_) {
        socket_.await(unsent_);
    }
    return true;
}

void zookeeper_connection::read_frames() {
    const auto going_on = [this] {
        const auto now = handle_->current();
        return !over_ && !forgotten_ && (now == state::connecting || now == state::connected);
    };
    bool more = true;
    for (int i = 0; i < most_pieces && more && going_on(); ++i) {
        more = gate_->read();
        std::size_t frames = gate_->check();
        while (frames > 0 && going_on()) {
            const bool all_given = gate_->hand_over();
            if (handle_->process(true, false)) {
                --frames;
            } else if (all_given) {
                break;  // it wants no more
            }
            frames = frames > 0 ? frames : gate_->check();
        }
    }
}

/// Lets the C client do what is due, and sends what it has written. Returns false when the
/// connection, or the attempt, is over.
bool zookeeper_connection::drive() {
    zookeeper_handle::interest wanted;
    bool again = true;
    while (again) {
        // The C client does not report a failed attempt, or a send that failed: it has closed its
        // socket.
        const bool dead = socket_.watching() && handle_->current() == state::disconnected;
        wanted = over_ || dead ? zookeeper_handle::interest{} : handle_->next();
        if (wanted.socket < 0) {
            return false;
        }
        if (forgotten_) {
            return true;
        }
        watch(wanted.socket);
        if (gate_) {
            gate_->collect();
        }
        again = gate_ && wanted.write;  // more than the gate's socket took
        if (again) {
            handle_->process(false, true);
        }
    }
    if (gate_) {
        gate_->flush();
    }
    unsent_ = wanted.write || (gate_ && gate_->unsent());
    patience_ = std::max(wanted.patience, milliseconds(1));
    return !gate_ || gate_->failure().empty();
}

/// `socket` is the C client's.
void zookeeper_connection::watch(int socket) {
    if (!socket_.watching()) {
        if (tunnel_) {
            tunnel_->take_over(socket);
        }
        socket_.watch(socket);
    }
    if (!gate_ && handle_->asked_for_session()) {
        gate_.emplace(socket_.descriptor(), socket, continues_);
    }
}

std::string zookeeper_connection::failure() const {
    if (tunnel_ && !tunnel_->failure().empty()) {
        return tunnel_->failure();
    }
    if (gate_ && !gate_->failure().empty()) {
        return gate_->failure();
    }
    const int error = handle_->last_failure();
    // Where no system call has failed, it is about what was read.
    return error == 0 ? "what answers there does not speak ZooKeeper's protocol"
                      : std::generic_category().message(error);
}

session_event::cause zookeeper_connection::cause() const noexcept {
    if (!gate_ || !gate_->wrong_frame()) {
        return session_event::cause::unreachable;
    }
    // Of a server that leaves out an answer, the next connection may well get it.
    return connected_ && !gate_->answer_left_out() ? session_event::cause::wrong_answer
                                                   : session_event::cause::malformed;
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
        answer = {.code = result_code::closing};
    } else if (answer.code == result_code::closing) {
        answer.code = result_code::connection_loss;
    }
    e->done(std::move(answer));
}

}  // namespace latchkey::inline v0
